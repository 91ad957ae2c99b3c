/** The form that starts a sweep: a grid of parameters, the end of each point, the rows to store. */
import { make } from "./dom.js";
import { box, choice, field, mark, names, numbers, positive, single } from "./fields.js";
import { number } from "./format.js";
import { tell } from "./notices.js";

/** @typedef {import("./types.js").Axis} Axis */
/** @typedef {import("./types.js").SweepRequest} SweepRequest */

/** @param {HTMLInputElement} input @param {string} label @param {string} [className] */
function called(input, label, className = "") {
  input.setAttribute("aria-label", label);
  input.className = className;
  return input;
}

/** A parameter and its values: one axis of the grid. */
class Row {
  /**
   * @param {Record<string, number>} parameters with their values now
   * @param {string} name the one selected at first
   * @param {() => void} away
   */
  constructor(parameters, name, away) {
    const now = parameters[name];
    this.which = choice(Object.keys(parameters).map((key) => [key, key]));
    this.which.value = name;
    this.which.setAttribute("aria-label", "Parameter");
    this.kind = choice([
      ["values", "values"],
      ["range", "from, to"],
    ]);
    this.kind.setAttribute("aria-label", "How its values are given");
    const near = now === 0 ? [0, 1] : [now / 2, now, 2 * now];
    this.values = called(box(near.map((x) => Number(x.toPrecision(12))).join(", ")), "Values");
    this.values.className = "long";
    this.from = called(box(String(near[0])), "From");
    this.to = called(box(String(near[near.length - 1])), "To");
    this.count = called(box("5"), "Count", "short");
    this.list = make("span", { className: "joined" }, this.values);
    this.range = make(
      "span",
      { className: "joined" },
      this.from,
      "to",
      this.to,
      "in",
      this.count,
      make("span", { className: "unit" }, "values"),
    );
    this.away = make("button", { type: "button", className: "small", onclick: away }, "Remove");
    this.away.setAttribute("aria-label", "Remove this parameter");
    this.element = make(
      "div",
      { className: "axis", role: "group", "aria-label": "Parameter and its values" },
      this.which,
      this.kind,
      this.list,
      this.range,
      this.away,
    );
    this.kind.onchange = () => this.arrange();
    this.arrange();
  }

  arrange() {
    this.list.hidden = this.kind.value !== "values";
    this.range.hidden = this.kind.value !== "range";
  }

  /** The values of the boxes, or null. @returns {Axis | null} */
  axis() {
    if (this.kind.value === "values") {
      return numbers(this.values.value);
    }
    const [from, to, count] = [this.from, this.to, this.count].map(single);
    const good = !Number.isNaN(from) && !Number.isNaN(to) && Number.isInteger(count) && count > 0;
    return good ? { from, to, count } : null;
  }

  /** Mark the invalid boxes. */
  mark() {
    const list = this.kind.value === "values";
    const count = single(this.count);
    mark(this.values, !list || numbers(this.values.value) !== null);
    mark(this.from, list || !Number.isNaN(single(this.from)));
    mark(this.to, list || !Number.isNaN(single(this.to)));
    mark(this.count, list || (Number.isInteger(count) && count > 0));
  }
}

/** How many values it has. @param {Axis | null} axis */
const size = (axis) => (axis === null ? NaN : Array.isArray(axis) ? axis.length : axis.count);

/** Parameters that make a grid. @param {Record<string, number>} parameters */
function grid(parameters) {
  const all = Object.keys(parameters);
  /** @type {Row[]} */
  let rows = [];
  const place = make("div", { className: "rows" });
  const more = make("button", { type: "button", className: "small" }, "Add a parameter");
  const told = make("span", { className: "quiet number", role: "status" });
  const count = () => {
    const points = rows.reduce((product, row) => product * size(row.axis()), 1);
    told.textContent = Number.isNaN(points)
      ? ""
      : `${number(points, 9)} point${points === 1 ? "" : "s"}`;
  };
  const arrange = () => {
    more.disabled = rows.length >= all.length;
    rows.forEach((row) => (row.away.hidden = rows.length === 1));
    count();
  };
  const add = () => {
    const free = all.find((key) => rows.every((row) => row.which.value !== key)) ?? all[0];
    const row = new Row(parameters, free, () => {
      rows = rows.filter((other) => other !== row);
      row.element.remove();
      arrange();
      more.focus();
    });
    rows.push(row);
    place.append(row.element);
    arrange();
    return row;
  };
  more.onclick = () => add().which.focus();
  place.addEventListener("input", count);
  place.addEventListener("change", count);
  add();
  /** @returns {Record<string, Axis> | string} or the fault */
  const read = () => {
    /** @type {Record<string, Axis>} */
    const axes = {};
    for (const row of rows) {
      const axis = row.axis();
      const name = row.which.value;
      row.mark();
      if (axis === null) {
        return "the marked fields need numbers";
      }
      if (Object.hasOwn(axes, name)) {
        return `the parameter ${name} is given twice`;
      }
      axes[name] = axis;
    }
    return axes;
  };
  return { element: [place, make("div", { className: "line" }, more, told)], read };
}

/**
 * The end of each point, and the rows to store.
 * @param {import("./types.js").Variable[]} outputs
 */
function extent(outputs) {
  const ends = choice([
    ["until", "until time"],
    ["count", "for steps"],
  ]);
  const amount = called(box("10"), "How far");
  const unit = make("span", { className: "unit" }, "s");
  const kept = choice([
    ["end", "at the end"],
    ["way", "during the run, every"],
  ]);
  const every = called(box("100"), "Steps from row to row");
  const steps = make("span", { className: "unit" }, "steps");
  const which = names(outputs, "Outputs of the sweep");
  const arrange = () => {
    unit.textContent = ends.value === "until" ? "s" : "";
    every.hidden = steps.hidden = kept.value !== "way";
  };
  const element = make(
    "div",
    { className: "run-form", onchange: arrange },
    field("sweep-end", "Each point runs", ends, amount, unit),
    field("sweep-rows", "Rows", kept, every, steps),
    make("div", { className: "entry wide" }, which.element),
  );
  arrange();
  /** @returns {Omit<SweepRequest, "parameters"> | null} */
  const read = () => {
    const far = positive(amount);
    const nth = kept.value === "way" ? positive(every) : 1;
    const whole = kept.value !== "way" || Number.isInteger(nth);
    mark(every, whole);
    return Number.isNaN(far) || !whole
      ? null
      : {
          ...(ends.value === "until" ? { until: far } : { count: far }),
          ...(kept.value === "way" ? { record: { every: nth } } : {}),
          ...(which.all() ? {} : { outputs: which.chosen() }),
        };
  };
  return { element, read };
}

/**
 * @param {Record<string, number>} parameters of the instance, as they are now
 * @param {import("./types.js").Variable[]} outputs
 * @param {(request: SweepRequest) => Promise<void>} start
 * @param {() => void} cancel
 */
export function sweepForm(parameters, outputs, start, cancel) {
  const points = grid(parameters);
  const rest = extent(outputs);
  const form = make(
    "form",
    { className: "editor", noValidate: true, "aria-label": "Start a sweep" },
    make(
      "p",
      { className: "quiet" },
      "Every combination of these values is a point: a separate simulation from the initial " +
        "state of the model. Other parameters have their present values.",
    ),
    ...points.element,
    rest.element,
    make(
      "div",
      { className: "line" },
      make("button", { type: "submit", className: "primary" }, "Start sweep"),
      make("button", { type: "button", onclick: cancel }, "Close"),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const axes = points.read();
    const more = rest.read();
    if (typeof axes === "string" || more === null) {
      const why = typeof axes === "string" ? axes : "the marked fields need positive numbers";
      tell("start the sweep", new Error(why));
      const wrong = form.querySelector("input.wrong");
      if (wrong instanceof HTMLInputElement) {
        wrong.focus();
      }
      return;
    }
    await start({ parameters: { grid: axes }, ...more });
  });
  return form;
}
