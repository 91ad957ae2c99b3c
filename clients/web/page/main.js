/** The page: a list that refreshes itself, a form for new instances, and the selected one. */
import * as api from "./api.js";
import { Detail } from "./detail.js";
import { find, make } from "./dom.js";
import { keepLeases } from "./lease.js";
import { choice, choose, filtered, onChoice, setWrong, showList } from "./list.js";
import { askForToken, showWho, takeFromAddress } from "./login.js";
import { attempt, clear, tell } from "./notices.js";
import { SweepPage } from "./sweeps.js";

const FIRST_EXAMPLE = "driven-oscillator"; // moves by itself and takes an input
const REFRESH = 1500; // ms between two requests for the list
const SWEEPS = "~sweeps"; // in place of an id; not a valid id

const place = find("detail", HTMLElement);
const link = find("link", HTMLElement);

/** @type {Detail | null} */
let detail = null;
/** @type {SweepPage | null} */
let sweeps = null;
let timer = 0;
/** the server requires a token */
let locked = false;
/** @type {import("./types.js").Who | undefined} */
let who;

/** @param {string} text @param {boolean} good */
function setLink(text, good) {
  link.textContent = text;
  link.classList.toggle("good", good);
  link.classList.toggle("bad", !good);
}

/** The id after the # of the address, unchanged if it is not encoded correctly. */
function selected() {
  const text = location.hash.replace(/^#\/?/, "");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function refresh() {
  clearTimeout(timer);
  if (locked) {
    return;
  }
  const asked = selected();
  const labels = choice();
  try {
    const answer = await api.instances(labels);
    setWrong(false);
    showList(answer.items, answer.next === null, selected());
    // the instance on display reports a lost live connection
    if (!detail?.broken) {
      setLink("live", true);
    }
    const chosen = answer.items.find((item) => item.id === asked);
    // the instance on display may be outside the filter
    const elsewhere = labels !== "" && !chosen && asked !== SWEEPS;
    const all = elsewhere ? await api.instances() : answer;
    const mine = chosen ?? all.items.find((item) => item.id === asked);
    if (asked !== selected()) {
      // the filter has changed meanwhile: this answer may be older
    } else if (mine) {
      void detail?.refresh(mine);
    } else if (asked !== "" && asked !== SWEEPS && all.next === null) {
      location.hash = "";
    } else if (asked === "" && answer.items.length > 0 && !filtered()) {
      location.replace(`#/${encodeURIComponent(answer.items[0].id)}`);
    }
  } catch (error) {
    const refused = error instanceof api.Problem && error.status === 422;
    setWrong(refused);
    if (!refused) {
      setLink(locked ? "locked" : "no connection", false);
    }
  }
  clearTimeout(timer);
  timer = window.setTimeout(refresh, document.hidden ? 4 * REFRESH : REFRESH);
}

function welcome() {
  place.replaceChildren(
    make(
      "div",
      { className: "welcome" },
      make("h1", {}, "Choose an instance, or create one"),
      make(
        "p",
        { className: "quiet" },
        "An instance is a mechanical model that this server steps. " +
          "Its outputs are plotted here while it moves, whichever client steps it.",
      ),
    ),
  );
}

/** Show no instance. */
function leave() {
  detail?.end();
  sweeps?.end();
  detail = null;
  sweeps = null;
}

async function select() {
  leave();
  const id = selected();
  find("sweeps", HTMLElement).setAttribute("aria-current", String(id === SWEEPS));
  if (id === "") {
    welcome();
    void refresh();
    return;
  }
  if (locked) {
    return;
  }
  if (id === SWEEPS) {
    sweeps = new SweepPage(place);
    void refresh();
    return;
  }
  const next = new Detail(place, id, {
    changed: () => void refresh(),
    link: setLink,
    again: () => void select(),
    choose,
    who: () => who,
  });
  detail = next;
  try {
    await next.open();
  } catch (error) {
    if (detail === next && !locked) {
      tell(`show ${id}`, error);
      location.hash = "";
    }
  }
  void refresh();
}

/** Fill the list of examples; the selected one is explained in one line. */
async function listExamples() {
  const choice = find("example", HTMLSelectElement);
  const text = find("example-about", HTMLElement);
  // not a user action: its success dismisses no message
  const examples = await api.examples().catch((error) => {
    if (!locked) {
      tell("list the examples", error);
    }
    return [];
  });
  choice.replaceChildren(
    ...examples.map((e) => make("option", { value: e.name }, e.title || e.name)),
  );
  if (examples.some((e) => e.name === FIRST_EXAMPLE)) {
    choice.value = FIRST_EXAMPLE;
  }
  // a summary of its model in one line
  const explain = async () => {
    const name = choice.value;
    const model = await api.example(name).catch(() => null);
    if (model && name === choice.value) {
      const count = model.objects?.length ?? 0;
      text.textContent =
        `${name}: ${count} object${count === 1 ? "" : "s"}, ` +
        `${model.solver?.integrator ?? "default integrator"}, h = ${model.solver?.stepSize} s`;
    }
  };
  choice.addEventListener("change", () => void explain());
  if (examples.length > 0) {
    void explain();
  }
}

function offerExamples() {
  const choice = find("example", HTMLSelectElement);
  const kept = find("durability", HTMLSelectElement);
  const listed = listExamples();
  // registered at once: a press before the list arrives must not submit the form itself
  find("create", HTMLFormElement).addEventListener("submit", async (event) => {
    event.preventDefault();
    await listed;
    const made = await attempt("create an instance", () => api.create(choice.value, kept.value));
    if (made) {
      location.hash = `#/${encodeURIComponent(made.id)}`;
    }
  });
  const file = find("file", HTMLInputElement);
  file.addEventListener("change", async () => {
    const content = file.files?.[0];
    const made =
      content &&
      (await attempt("create from the file", () => api.createFrom(content, kept.value)));
    file.value = "";
    if (made) {
      location.hash = `#/${encodeURIComponent(made.id)}`;
    }
  });
}

/** @type {Record<string, string>} */
const KEPT = {
  none: "none: not stored",
  checkpoint: "checkpoints at intervals",
  "every-step": "every step",
};

/** Hidden where the server has no state directory. @param {string[]} durabilities */
function offerDurability(durabilities) {
  find("keeping", HTMLElement).hidden = durabilities.length < 2;
  find("durability", HTMLSelectElement).append(
    ...durabilities.map((value) => make("option", { value }, KEPT[value] ?? value)),
  );
}

async function introduce() {
  const about = await api.about().catch(() => null);
  if (about?.version) {
    find("about", HTMLElement).textContent = String(about.version);
    who = about.who;
    showWho(who);
    offerDurability(about.enabled?.durability ?? []);
  }
}

api.onDenied(() => {
  if (!locked) {
    locked = true;
    leave();
    clear();
    setLink("locked", false);
    askForToken(place);
  }
});
takeFromAddress();
window.addEventListener("hashchange", () => void (locked || select()));
onChoice(() => void refresh());
keepLeases();
void introduce();
offerExamples();
void select();
