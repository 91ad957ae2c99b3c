/** Login: a token from the address or from a form, stored for this tab, and logout. */
import * as api from "./api.js";
import { find, make } from "./dom.js";

const IN_ADDRESS = /^#\/?token=(.*)$/;

/** Why it is no token: a character that is not visible ASCII; or "". @param {string} value */
function strange(value) {
  const letters = [...value];
  const at = letters.findIndex((letter) => letter < "!" || letter > "~");
  const code = at < 0 ? "" : (letters[at].codePointAt(0) ?? 0).toString(16).toUpperCase();
  return at < 0 ? "" : `Character ${at + 1} of the token is U+${code.padStart(4, "0")}.`;
}

/** A token after the # of the address is stored and removed from the address. */
export function takeFromAddress() {
  const found = IN_ADDRESS.exec(location.hash);
  if (found) {
    const value = decodeURIComponent(found[1]).trim();
    api.setToken(strange(value) ? null : value);
    history.replaceState(null, "", location.pathname);
  }
}

/**
 * The form in place of everything else. A valid token is stored, and the page is loaded again.
 * @param {HTMLElement} place
 */
export function askForToken(place) {
  if (document.body.classList.contains("locked")) {
    return;
  }
  document.body.classList.add("locked");
  const known = api.token() !== null;
  const box = make("input", {
    id: "token",
    type: "password",
    autocomplete: "current-password",
    spellcheck: false,
    required: true,
  });
  const why = make("p", { className: "bad", role: "alert" });
  why.textContent = known ? "The server no longer accepts this token." : "";
  const form = make(
    "form",
    { className: "login" },
    make("h1", {}, "Log in"),
    make("label", { htmlFor: "token", className: "quiet" }, "Token of this server"),
    box,
    why,
    make("button", { type: "submit", className: "primary" }, "Log in"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const value = box.value.trim();
    why.textContent = strange(value);
    if (why.textContent) {
      box.select();
      return;
    }
    const good = await api.admits(value).catch(() => null);
    if (good) {
      api.setToken(value);
      location.reload();
      return;
    }
    why.textContent =
      good === null ? "The server cannot be reached." : "The server does not accept this token.";
    box.select();
  });
  api.setToken(null);
  place.replaceChildren(form);
  box.focus();
}

/**
 * The name of the user, and the logout button; nothing where the server requires no token.
 * @param {import("./types.js").Who | undefined} who
 */
export function showWho(who) {
  if (!who?.name || api.token() === null) {
    return;
  }
  const out = make("button", { type: "button", className: "plain" }, "Log out");
  out.onclick = () => {
    api.setToken(null);
    location.reload();
  };
  find("who", HTMLElement).replaceChildren(
    make(
      "span",
      { className: "quiet", title: `scope of the token: ${who.scope}` },
      `${who.name} (${who.scope})`,
    ),
    out,
  );
}
