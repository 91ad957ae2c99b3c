/** Fields of forms: boxes with their labels, and the numbers in them. */
import { make } from "./dom.js";

/**
 * @param {string} id
 * @param {string} text
 * @param {HTMLElement} box
 * @param {...(Node | string)} more after the box
 */
export function field(id, text, box, ...more) {
  box.id = id;
  return make(
    "div",
    { className: "entry" },
    make("label", { htmlFor: id }, text),
    make("span", { className: "joined" }, box, ...more),
  );
}

/** @param {string} value */
export const box = (value) =>
  make("input", { type: "text", inputMode: "decimal", autocomplete: "off", value });

/** @param {[string, string][]} options value and text */
export const choice = (options) =>
  make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));

/** Mark a box as valid or not. @param {HTMLInputElement} input @param {boolean} good */
export function mark(input, good) {
  input.classList.toggle("wrong", !good);
  input.setAttribute("aria-invalid", String(!good));
}

/** The number in a box, or NaN. @param {HTMLInputElement} input */
export function single({ value }) {
  const text = value.trim().replace(",", ".").replace("−", "-");
  return text === "" || !Number.isFinite(Number(text)) ? NaN : Number(text);
}

/** A positive number, or NaN, and then the box is marked. @param {HTMLInputElement} input */
export function positive(input) {
  const value = single(input);
  mark(input, value > 0);
  return value > 0 ? value : NaN;
}

/** Numbers of "0, 0, −9.81", or null. @param {string} text */
export function numbers(text) {
  const parts = text
    .replace(/−/g, "-")
    .split(/[\s,;]+/)
    .filter((part) => part !== "");
  const values = parts.map(Number);
  return values.length === 0 || values.some((x) => !Number.isFinite(x)) ? null : values;
}

/**
 * Names of outputs, all of them chosen at first.
 * @param {import("./types.js").Variable[]} outputs
 * @param {string} label
 */
export function names(outputs, label) {
  const boxes = outputs.map((v) =>
    make("input", { type: "checkbox", value: v.name, checked: true }),
  );
  const title = make("summary", {}, "all outputs");
  const chosen = () => boxes.filter((b) => b.checked).map((b) => b.value);
  const element = make(
    "details",
    { className: "names" },
    title,
    make(
      "div",
      { role: "group", "aria-label": label },
      ...boxes.map((b) => make("label", { className: "choice" }, b, b.value)),
    ),
  );
  element.addEventListener("change", () => {
    const count = chosen().length;
    title.textContent =
      count === boxes.length ? "all outputs" : `${count} of ${boxes.length} outputs`;
  });
  return { element, chosen, all: () => chosen().length === boxes.length };
}
