/** The instances beside the page: a list, and a choice of them by name, id or label. */
import { find, make } from "./dom.js";
import { clock } from "./format.js";
import { label } from "./traits.js";

/** @typedef {import("./types.js").Instance} Instance */

const list = find("list", HTMLElement);
const box = find("filter", HTMLInputElement);
const more = find("more", HTMLElement);

const between = /"(?:[^"\\]|\\.)*"|\s*,\s*/g;

/** Labels that are asked for, "rig=a,night", or "": the text is no choice of labels. */
export const choice = () =>
  box.value.includes("=")
    ? box.value.trim().replace(between, (part) => (part.startsWith('"') ? part : ","))
    : "";

/** Is anything left out on purpose? */
export const filtered = () => box.value.trim() !== "";

/** @param {boolean} wrong the server does not take the choice */
export function setWrong(wrong) {
  box.classList.toggle("wrong", wrong);
  box.setAttribute("aria-invalid", String(wrong));
}

/** Show those with this label. @param {string} text */
export function choose(text) {
  // a name alone is a choice too: with any value
  box.value = text.includes("=") ? text : `${text}=`;
  box.dispatchEvent(new Event("input"));
}

/** @param {() => void} act the choice is another one */
export const onChoice = (act) => box.addEventListener("input", act);

/** Name, id or a label has the text in it. @param {Instance} instance */
function fits(instance) {
  const text = box.value.trim().toLowerCase();
  const labels = Object.entries(instance.labels ?? {}).map(([name, value]) => label(name, value));
  return (
    choice() !== "" ||
    [instance.name ?? "", instance.id, ...labels].some((t) => t.toLowerCase().includes(text))
  );
}

/** @param {Instance} instance @param {string} selected id */
function row(instance, selected) {
  const here = instance.id === selected;
  const labels = Object.entries(instance.labels ?? {}).map(([name, value]) => label(name, value));
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
        className: instance.running ? "dot on" : instance.busy ? "dot busy" : "dot",
        title: instance.running ? "running" : instance.busy ? "busy" : "idle",
      }),
      make("span", { className: "name", title: instance.name }, instance.name || instance.id),
      make("span", { className: "quiet" }, instance.id),
      make("span", { className: "quiet number" }, clock(instance.time)),
      make("span", { className: "quiet tags", hidden: labels.length === 0 }, labels.join("  ")),
    ),
  );
}

/** The row of the one that is selected comes into the box; the page stays where it is. */
function reveal() {
  const here = list.querySelector(".here");
  if (here) {
    const box = list.getBoundingClientRect();
    const { top, bottom } = here.getBoundingClientRect();
    list.scrollTop += Math.min(0, top - box.top) + Math.max(0, bottom - box.bottom);
  }
}

let revealed = ""; // id
new ResizeObserver(reveal).observe(list);

/**
 * @param {Instance[]} items
 * @param {boolean} whole there are no more of them
 * @param {string} selected id
 */
export function showList(items, whole, selected) {
  const focused =
    document.activeElement instanceof HTMLAnchorElement
      ? document.activeElement.getAttribute("href")
      : null;
  const shown = items.filter(fits);
  list.replaceChildren(...shown.map((item) => row(item, selected)));
  if (shown.length === 0) {
    const text = filtered() ? "None of them fits." : "None yet. Create one below.";
    list.append(make("li", { className: "quiet none" }, text));
  }
  more.hidden = whole;
  more.textContent = `Of more than ${items.length}: choose by label.`;
  // the rows are new: whoever was on one with the keyboard stays on it
  if (focused) {
    for (const anchor of list.querySelectorAll("a")) {
      if (anchor.getAttribute("href") === focused) {
        anchor.focus({ preventScroll: true });
      }
    }
  }
  // once: then the box is the reader's
  if (revealed !== selected && shown.some((item) => item.id === selected)) {
    revealed = selected;
    reveal();
  }
}
