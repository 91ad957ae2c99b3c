/**
 * Inputs or parameters: one field each. Enter or leaving the field sends it; the server's
 * value is then shown. The fault of a value is shown below its field.
 */
import { Problem } from "./api.js";
import { size } from "./curves.js";
import { make } from "./dom.js";
import { mark, numbers } from "./fields.js";
import { attempt } from "./notices.js";
import { Wait } from "./waiting.js";

/** @typedef {import("./types.js").Value} Value */
/** @typedef {import("./types.js").Values} Values */
/** @typedef {import("./types.js").Variable} Variable */

/** @param {Value | undefined} value */
const write = (value) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));

/**
 * @param {string} text "1.5", or "0, 0, −9.81" for a vector
 * @param {Variable} variable
 * @returns {{value: Value} | {wrong: string}}
 */
function read(text, variable) {
  const vector = variable.shape.length > 0;
  const values = numbers(text);
  const wanted = size(variable);
  if (text.trim() === "") {
    return { wrong: vector ? `${wanted} numbers are missing` : "a number is missing" };
  }
  if (values === null || (!vector && values.length > 1)) {
    const point = text.includes(",") ? "; decimals have a point" : "";
    const like = vector ? "numbers such as 0, 0.5, 2e3" : `a number${point}`;
    return { wrong: `“${text.trim()}” is not ${like}` };
  }
  if (values.length !== wanted) {
    return { wrong: `${wanted} numbers are needed, not ${values.length}` };
  }
  return { value: vector ? values : values[0] };
}

/** A field, its label and unit, and the fault of its value. */
class Field {
  /** @param {ValueForm} form @param {Variable} variable */
  constructor(form, variable) {
    const key = `${form.kind}-${variable.name}`;
    this.form = form;
    this.variable = variable;
    /** the text of the value that the server has */
    this.held = "";
    /** another value is to be sent */
    this.again = false;
    this.box = make("input", {
      id: key,
      type: "text",
      inputMode: "decimal",
      autocomplete: "off",
      spellcheck: false,
      "aria-describedby": `${key}-wrong`,
    });
    this.wrong = make("span", { id: `${key}-wrong` });
    this.wait = new Wait();
    this.box.addEventListener("change", () => void this.send());
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        void this.send();
      }
    });
    this.element = make(
      "div",
      { className: "field" },
      make("label", { htmlFor: key, title: variable.name }, variable.name),
      this.box,
      make("span", { className: "unit" }, variable.unit),
      make("span", { className: "reason", role: "alert" }, this.wrong),
      this.wait.element,
    );
  }

  /** @param {string} text the fault, or "" */
  tell(text) {
    mark(this.box, text === "");
    this.wrong.textContent = text;
  }

  /** The server's value; an edited or invalid text is kept. @param {Value} value */
  show(value) {
    const text = write(value);
    const touched = this.box.value !== this.held;
    if (!touched && text !== this.held) {
      this.box.value = text;
    }
    this.held = touched ? this.held : text;
  }

  async send() {
    const got = read(this.box.value, this.variable);
    if ("wrong" in got) {
      this.tell(got.wrong);
      return;
    }
    this.tell("");
    if (this.box.value === this.held) {
      return;
    }
    // while one is in progress, the last one is sent after it
    this.again = this.wait.told;
    await this.wait.during(() => this.put(got.value));
    if (this.again && !this.wait.told) {
      await this.send();
    }
  }

  /** @param {Value} value */
  async put(value) {
    const before = this.held;
    const sent = this.box.value;
    const { name } = this.variable;
    this.held = sent;
    const values = await attempt(`set ${name}`, async () => {
      try {
        return await this.form.set({ [name]: value });
      } catch (error) {
        // the same text is tried again; a lost connection does not mean an invalid value
        this.held = before;
        this.tell(error instanceof Problem && error.status === 422 ? error.message : "not set");
        throw error;
      }
    });
    if (values && this.box.value === sent && document.activeElement !== this.box) {
      this.held = this.box.value = write(values[name]);
    }
  }
}

export class ValueForm {
  /**
   * @param {"input" | "parameter"} kind
   * @param {Variable[]} variables of the instance
   * @param {() => Promise<Values>} ask fetches the values
   * @param {(values: Values) => Promise<Values>} put sets some, and returns all
   */
  constructor(kind, variables, ask, put) {
    this.kind = kind;
    this.ask = ask;
    this.put = put;
    /** number of requests that set values, and of those without an answer */
    this.sent = 0;
    this.pending = 0;
    this.fields = new Map(
      variables.filter((v) => v.causality === kind).map((v) => [v.name, new Field(this, v)]),
    );
    this.element = make(
      "form",
      { className: "fields", onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
      ...[...this.fields.values()].map((field) => field.element),
    );
  }

  /** @param {Values} values */
  async set(values) {
    this.sent++;
    this.pending++;
    try {
      return await this.put(values);
    } finally {
      this.pending--;
    }
  }

  /** Fetch and show the values; those requested before one was set may be outdated. */
  async refresh() {
    const sent = this.pending > 0 ? NaN : this.sent;
    const values = this.fields.size > 0 ? await this.ask().catch(() => null) : null;
    if (values && sent === this.sent) {
      for (const [name, field] of this.fields) {
        field.show(values[name]);
      }
    }
  }

  /** Inputs of other clients are read-only. @param {(name: string) => string} by whom, or "" */
  leave(by) {
    for (const [name, { box }] of this.fields) {
      const other = by(name);
      box.readOnly = other !== "";
      box.title = other;
    }
  }
}
