/** The instances beside the page: a list, and a filter by name, id or label. */
import { find, make } from "./dom.js";
import { clock } from "./format.js";
import { label } from "./traits.js";

/** @typedef {import("./types.js").Instance} Instance */

const list = find("list", HTMLElement);
const box = find("filter", HTMLInputElement);
const more = find("more", HTMLElement);

const between = /"(?:[^"\\]|\\.)*"|\s*,\s*/g;

/** Labels in the filter, "rig=a,night", or "": the text is not a list of labels. */
export const choice = () =>
  box.value.includes("=")
    ? box.value.trim().replace(between, (part) => (part.startsWith('"') ? part : ","))
    : "";

/** Is a filter active? */
export const filtered = () => box.value.trim() !== "";

/** @param {boolean} wrong the server refuses the filter */
export function setWrong(wrong) {
  box.classList.toggle("wrong", wrong);
  box.setAttribute("aria-invalid", String(wrong));
}

/** Show those with this label. @param {string} text */
export function choose(text) {
  // a name alone is a filter too: any value
  box.value = text.includes("=") ? text : `${text}=`;
  box.dispatchEvent(new Event("input"));
}

/** @param {() => void} act the filter has changed */
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

/** Scroll the row of the selected one into the box; the page does not scroll. */
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
    const text = filtered() ? "No instance matches." : "No instances yet. Create one below.";
    list.append(make("li", { className: "quiet none" }, text));
  }
  more.hidden = whole;
  more.textContent = `More than ${items.length} instances: filter by label.`;
  // the rows are new: the keyboard focus is restored
  if (focused) {
    for (const anchor of list.querySelectorAll("a")) {
      if (anchor.getAttribute("href") === focused) {
        anchor.focus({ preventScroll: true });
      }
    }
  }
  // once: later the user scrolls the box
  if (revealed !== selected && shown.some((item) => item.id === selected)) {
    revealed = selected;
    reveal();
  }
}
