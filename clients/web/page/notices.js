/** Errors, shown until they are dismissed or the next action succeeds. */
import { Problem } from "./api.js";
import { find, make } from "./dom.js";

const place = find("notices", HTMLElement);

export function clear() {
  place.replaceChildren();
}

/**
 * @param {string} doing what was tried: "step"
 * @param {unknown} error
 */
export function tell(doing, error) {
  const text = error instanceof Error ? error.message : String(error);
  const all = error instanceof Problem ? error.faults : [];
  // a single fault with the same text is shown by its place before the text
  const alone = all.length === 1 && all[0].message === text;
  const faults = alone ? [] : all;
  const code = error instanceof Problem ? error.code : "";
  const close = make(
    "button",
    { type: "button", className: "plain", onclick: clear, "aria-label": "Dismiss this message" },
    "×",
  );
  const list = make(
    "ul",
    {},
    ...faults.map((fault) =>
      make("li", {}, make("code", {}, fault.pointer || "/"), ` ${fault.message}`),
    ),
  );
  place.replaceChildren(
    make(
      "div",
      { className: "notice" },
      make(
        "div",
        { className: "grow" },
        make("strong", {}, `Could not ${doing}: `),
        alone ? make("code", {}, all[0].pointer || "/") : "",
        alone ? ` ${text}` : text,
        code ? make("span", { className: "quiet" }, ` (${code})`) : "",
        faults.length > 0 ? list : "",
      ),
      close,
    ),
  );
  place.scrollIntoView({ block: "nearest" });
}

/**
 * Run an action; an error is shown, and success dismisses an old one.
 * @template T
 * @param {string} doing
 * @param {() => Promise<T>} action
 * @returns {Promise<T | undefined>}
 */
export async function attempt(doing, action) {
  try {
    const result = await action();
    clear();
    return result;
  } catch (error) {
    tell(doing, error);
    return undefined;
  }
}
