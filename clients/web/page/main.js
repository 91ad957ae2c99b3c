/** The page: a list that refreshes itself, a form for new instances, and the selected one. */
import * as api from "./api.js";
import { Detail } from "./detail.js";
import { find, make } from "./dom.js";
import { clock } from "./format.js";
import { attempt, tell } from "./notices.js";

const FIRST_EXAMPLE = "driven-oscillator"; // moves by itself and takes an input
const REFRESH = 1500; // ms between two looks at the list

const list = find("list", HTMLElement);
const place = find("detail", HTMLElement);
const link = find("link", HTMLElement);

/** @type {Detail | null} */
let detail = null;
let timer = 0;

/** @param {string} text @param {boolean} good */
function setLink(text, good) {
  link.textContent = text;
  link.classList.toggle("good", good);
  link.classList.toggle("bad", !good);
}

/** The id after the # of the address, as it stands when it is not encoded well. */
function selected() {
  const text = location.hash.replace(/^#\/?/, "");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {import("./types.js").Instance} instance */
function row(instance) {
  const here = instance.id === selected();
  return make(
    "li",
    {},
    make(
      "a",
      {
        href: `#/${encodeURIComponent(instance.id)}`,
        className: here ? "here" : "",
        "aria-current": here ? "true" : "false",
      },
      make("span", {
        className: instance.running ? "dot on" : "dot",
        title: instance.running ? "running" : "idle",
      }),
      make("span", { className: "name", title: instance.name }, instance.name || instance.id),
      make("span", { className: "quiet" }, instance.id),
      make("span", { className: "quiet number" }, clock(instance.time)),
    ),
  );
}

/** @param {import("./types.js").Instance[]} items */
function showList(items) {
  const focused =
    document.activeElement instanceof HTMLAnchorElement
      ? document.activeElement.getAttribute("href")
      : null;
  list.replaceChildren(...items.map(row));
  if (items.length === 0) {
    list.append(make("li", { className: "quiet none" }, "None yet. Create one below."));
  }
  // the rows are new: whoever was on one with the keyboard stays on it
  if (focused) {
    for (const anchor of list.querySelectorAll("a")) {
      if (anchor.getAttribute("href") === focused) {
        anchor.focus();
      }
    }
  }
}

async function refresh() {
  clearTimeout(timer);
  const asked = selected();
  try {
    const items = await api.instances();
    showList(items);
    // a live connection that is down is told by the instance that is shown
    if (!detail?.broken) {
      setLink("live", true);
    }
    const mine = items.find((item) => item.id === asked);
    if (asked !== selected()) {
      // something else was chosen meanwhile: this answer may be older than it
    } else if (mine) {
      void detail?.refresh(mine);
    } else if (asked !== "") {
      location.hash = "";
    } else if (items.length > 0) {
      location.replace(`#/${encodeURIComponent(items[0].id)}`);
    }
  } catch {
    setLink("no connection", false);
  }
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
          "Its outputs are plotted here while it moves, whoever steps it.",
      ),
    ),
  );
}

async function select() {
  detail?.end();
  detail = null;
  const id = selected();
  if (id === "") {
    welcome();
    void refresh();
    return;
  }
  const next = new Detail(place, id, () => void refresh(), setLink);
  detail = next;
  try {
    await next.open();
  } catch (error) {
    if (detail === next) {
      tell(`show ${id}`, error);
      location.hash = "";
    }
  }
  void refresh();
}

/** Fills the choice; what is chosen is explained in one line. */
async function listExamples() {
  const choice = find("example", HTMLSelectElement);
  const text = find("example-about", HTMLElement);
  // nobody asked for this: its success puts no message away
  const examples = await api.examples().catch((error) => {
    tell("list the examples", error);
    return [];
  });
  choice.replaceChildren(
    ...examples.map((e) => make("option", { value: e.name }, e.title || e.name)),
  );
  if (examples.some((e) => e.name === FIRST_EXAMPLE)) {
    choice.value = FIRST_EXAMPLE;
  }
  // what it is made of, in one line
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
  const listed = listExamples();
  // heard from the start: a press before the list has come must not send the form itself
  find("create", HTMLFormElement).addEventListener("submit", async (event) => {
    event.preventDefault();
    await listed;
    const made = await attempt("create an instance", () => api.create(choice.value));
    if (made) {
      location.hash = `#/${encodeURIComponent(made.id)}`;
    }
  });
}

async function introduce() {
  const about = await api.about().catch(() => null);
  if (about?.version) {
    find("about", HTMLElement).textContent = String(about.version);
  }
}

window.addEventListener("hashchange", () => void select());
void introduce();
offerExamples();
void select();
