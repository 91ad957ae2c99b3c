/** Labels, time to live and durability of an instance. */
import * as api from "./api.js";
import { make } from "./dom.js";
import { number } from "./format.js";
import { attempt, tell } from "./notices.js";

/** @typedef {import("./types.js").Instance} Instance */

/** @param {import("./types.js").Durability | undefined} durability */
export function durable(durability) {
  if (durability === undefined || durability === "none") {
    return "not stored";
  }
  if (durability === "every-step") {
    return "every step stored";
  }
  const { steps, seconds } = durability === Object(durability) ? Object(durability) : {};
  const every = [steps ? `${steps} steps` : "", seconds ? `${number(seconds)} s` : ""]
    .filter((text) => text !== "")
    .join(" or ");
  return every === "" ? "checkpoints" : `checkpoints every ${every}`;
}

/** The remaining time, with seconds when it is short. @param {number} s */
export function left(s) {
  const seconds = Math.max(0, Math.floor(s));
  const [h, m] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  if (seconds >= 86400) {
    return `${Math.floor(seconds / 86400)} d ${h % 24} h`;
  }
  return h > 0 ? `${h}:${two(m)} h` : `${m}:${two(seconds % 60)} min`;
}

/**
 * A value in the form of a list with commas: in double quotes where it needs them.
 * @param {string} value
 */
export const word = (value) =>
  /^["\s]|,|\s$/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : value;

/** @param {string} name @param {string} value */
export const label = (name, value) => (value === "" ? name : `${name}=${value}`);

export class Traits {
  /**
   * @param {Instance} info
   * @param {(choice: string) => void} choose show instances with this label
   * @param {() => void} changed
   */
  constructor(info, choose, changed) {
    this.info = info;
    this.choose = choose;
    this.changed = changed;
    /** time of its deletion without use, ms of the clock */
    this.ends = Infinity;
    this.labels = make("span", { className: "labels", role: "list", "aria-label": "Labels" });
    this.stored = make("span", { className: "fact" });
    this.ttl = make("span", { className: "fact number" });
    this.open = make("button", { type: "button", className: "small" }, "Edit");
    this.open.setAttribute("aria-label", "Edit labels and time to live");
    this.open.setAttribute("aria-expanded", "false");
    this.open.onclick = () => this.toggle();
    this.facts = make(
      "span",
      { className: "traits" },
      this.labels,
      this.stored,
      this.ttl,
      this.open,
    );
    this.form = make("div", {});
    this.shown = "";
    this.timer = window.setInterval(() => this.tick(), 1000);
    this.show(info);
  }

  end() {
    clearInterval(this.timer);
  }

  /** @param {Instance} info */
  show(info) {
    this.info = { ...this.info, ...info, labels: info.labels, ttl: info.ttl };
    this.ends = info.ttlLeft === undefined ? Infinity : Date.now() + 1000 * info.ttlLeft;
    const labels = Object.entries(info.labels ?? {});
    const text = JSON.stringify(labels);
    if (text !== this.shown) {
      this.shown = text;
      this.labels.replaceChildren(...labels.map(([name, value]) => this.chip(name, value)));
      this.labels.hidden = labels.length === 0;
    }
    this.stored.textContent = durable(info.durability);
    this.tick();
  }

  tick() {
    this.ttl.hidden = !Number.isFinite(this.ends);
    if (!this.ttl.hidden) {
      this.ttl.textContent = `deleted if unused for ${left((this.ends - Date.now()) / 1000)}`;
      this.ttl.classList.toggle("late", this.ends - Date.now() < 60000);
    }
  }

  /** @param {string} name @param {string} value */
  chip(name, value) {
    const text = label(name, value);
    const button = make(
      "button",
      { type: "button", className: "label", title: `show instances with ${text}` },
      text,
    );
    button.onclick = () => this.choose(label(name, word(value)));
    return make("span", { role: "listitem" }, button);
  }

  toggle() {
    const open = this.form.childElementCount === 0;
    this.form.replaceChildren(...(open ? [this.editor()] : []));
    this.open.setAttribute("aria-expanded", String(open));
    if (open) {
      this.form.querySelector("input")?.focus();
    } else {
      this.open.focus();
    }
  }

  editor() {
    const rows = make("div", { className: "rows" });
    const add = (name = "", value = "") => {
      const row = make("div", { className: "pair" });
      const box = (/** @type {string} */ text, /** @type {string} */ content) => {
        const input = make("input", {
          type: "text",
          autocomplete: "off",
          spellcheck: false,
          value: content,
          placeholder: text.toLowerCase(),
        });
        input.setAttribute("aria-label", text);
        return input;
      };
      const away = make("button", { type: "button", className: "small" }, "Remove");
      away.setAttribute("aria-label", `Remove the label ${name}`);
      away.onclick = () => row.remove();
      row.append(box("Label", name), box("Value", value), away);
      rows.append(row);
      return row;
    };
    for (const [name, value] of Object.entries(this.info.labels ?? {})) {
      add(name, value);
    }
    if (rows.childElementCount === 0) {
      add();
    }
    const more = make("button", { type: "button", className: "small" }, "Add a label");
    more.onclick = () => add().querySelector("input")?.focus();
    const ttl = make("input", {
      id: "ttl",
      type: "text",
      inputMode: "decimal",
      autocomplete: "off",
      value: this.info.ttl ? String(this.info.ttl) : "",
      placeholder: "no limit",
    });
    const cancel = make("button", { type: "button" }, "Cancel");
    cancel.onclick = () => this.toggle();
    const form = make(
      "form",
      { className: "panel editor", noValidate: true, "aria-label": "Labels and time to live" },
      rows,
      more,
      make(
        "div",
        { className: "entry" },
        make("label", { htmlFor: "ttl" }, "Delete when unused for"),
        make("span", { className: "joined" }, ttl, make("span", { className: "unit" }, "s")),
      ),
      make(
        "div",
        { className: "line" },
        make("button", { type: "submit", className: "primary" }, "Save"),
        cancel,
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save(rows, ttl);
    });
    return form;
  }

  /** @param {HTMLElement} rows @param {HTMLInputElement} ttl */
  async save(rows, ttl) {
    /** @type {[string, string][]} */
    const labels = [...rows.children].map((row) => {
      const [name, value] = row.querySelectorAll("input");
      return [name.value.trim(), value.value.trim()];
    });
    const given = labels.filter(([name, value]) => name !== "" || value !== "");
    const seconds = ttl.value.trim() === "" ? null : Number(ttl.value);
    const twice = given.find(([name], k) => given.some(([other], n) => n < k && other === name));
    ttl.classList.toggle("wrong", Number.isNaN(seconds));
    if (Number.isNaN(seconds) || twice) {
      const why = twice ? `the label ${twice[0]} is given twice` : "seconds are a number";
      tell("save the labels", new Error(why));
      return;
    }
    const info = await attempt("save the labels", () =>
      api.edit(this.info.id, { labels: Object.fromEntries(given), ttl: seconds }),
    );
    if (info) {
      this.show(info);
      this.toggle();
      this.changed();
    }
  }
}
