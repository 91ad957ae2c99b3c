/** One field per input; Enter or leaving the field sends it; what the server holds comes back. */
import * as api from "./api.js";
import { make } from "./dom.js";
import { numbers } from "./fields.js";
import { attempt } from "./notices.js";

/** @param {import("./types.js").Value} value */
const write = (value) => (Array.isArray(value) ? value.join(", ") : String(value));

/**
 * @param {string} text "1.5", or "0, 0, −9.81" for a vector
 * @param {boolean} vector
 * @returns {import("./types.js").Value | null}
 */
function read(text, vector) {
  const values = numbers(text);
  return vector || values === null ? values : values.length === 1 ? values[0] : null;
}

/**
 * @param {string} id of the instance
 * @param {import("./types.js").Variable[]} variables the inputs
 * @param {import("./types.js").Values} values
 */
export function inputForm(id, variables, values) {
  /** @type {Map<string, HTMLInputElement>} */
  const boxes = new Map();
  /** @param {import("./types.js").Variable} variable */
  function field(variable) {
    const vector = variable.shape.length > 0;
    const key = `input-${variable.name}`;
    const box = make("input", {
      id: key,
      type: "text",
      inputMode: "decimal",
      autocomplete: "off",
      spellcheck: false,
      value: write(values[variable.name]),
    });
    boxes.set(variable.name, box);
    let sent = box.value;
    const send = async () => {
      const value = read(box.value, vector);
      box.classList.toggle("wrong", value === null);
      box.setAttribute("aria-invalid", String(value === null));
      if (value === null || box.value === sent) {
        return;
      }
      sent = box.value;
      const reply = await attempt(`set ${variable.name}`, () =>
        api.setInputs(id, { [variable.name]: value }),
      );
      if (reply?.inputs && document.activeElement !== box) {
        sent = box.value = write(reply.inputs[variable.name]);
      }
    };
    box.addEventListener("change", send);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        void send();
      }
    });
    return make(
      "div",
      { className: "field" },
      make("label", { htmlFor: key }, variable.name),
      box,
      make("span", { className: "unit" }, variable.unit),
    );
  }
  const element = make(
    "form",
    { className: "fields", onsubmit: (/** @type {Event} */ e) => e.preventDefault() },
    ...variables.map(field),
  );
  /** What others set alone can only be read. @param {(name: string) => string} by whom, or "" */
  const leave = (by) => {
    for (const [name, box] of boxes) {
      const other = by(name);
      box.readOnly = other !== "";
      box.title = other === "" ? "" : `set by ${other}`;
    }
  };
  return { element, leave };
}
