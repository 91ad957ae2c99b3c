/** The form that starts a run: its end, its pace, its period, and what is recorded. */
import * as api from "./api.js";
import { make } from "./dom.js";
import { box, choice, field, names, positive } from "./fields.js";
import { tell } from "./notices.js";

/** @typedef {import("./types.js").RunRequest} RunRequest */

const PERIOD = 0.02; // s, the server's own where a model's step is shorter

/**
 * The end of a run of so many seconds: periods, or a time where they are no whole number of these.
 * @param {string} id
 * @param {number} seconds
 * @param {number} period
 */
async function endAfter(id, seconds, period) {
  const count = Math.round(seconds / period);
  return Math.abs(count * period - seconds) <= 4 * Number.EPSILON * seconds
    ? { count }
    : { until: (await api.instance(id)).time + seconds };
}

/**
 * @param {import("./types.js").Instance} info
 * @param {import("./types.js").Variable[]} outputs
 * @param {(request: RunRequest) => Promise<void>} start
 */
export function runForm(info, outputs, start) {
  const preset = Math.max(PERIOD, info.stepSize);
  const ends = choice([
    ["for", "for"],
    ["until", "until time"],
    ["count", "for periods"],
    ["never", "until stopped"],
  ]);
  const amount = box("10");
  amount.setAttribute("aria-label", "How long");
  const unit = make("span", { className: "unit" }, "s");
  const paces = choice([
    ["0", "as fast as possible"],
    ["1", "real time"],
    ["x", "times real time"],
  ]);
  const factor = box("10");
  factor.setAttribute("aria-label", "Factor of real time");
  const period = box(String(Number(preset.toPrecision(6))));
  const record = make("input", { type: "checkbox", checked: outputs.length > 0, id: "run-record" });
  record.disabled = outputs.length === 0;
  const every = box("1");
  every.setAttribute("aria-label", "Periods from row to row");
  const which = names(outputs, "Recorded outputs");
  const recorded = make(
    "span",
    { className: "joined" },
    "every",
    every,
    make("span", { className: "unit" }, "periods"),
    which.element,
  );
  const arrange = () => {
    const never = ends.value === "never";
    amount.hidden = unit.hidden = never;
    unit.textContent = ends.value === "count" ? "" : "s";
    factor.hidden = paces.value !== "x";
    // rows need an end
    record.disabled = never || outputs.length === 0;
    recorded.hidden = !record.checked || record.disabled;
  };
  const button = make("button", { type: "submit", className: "primary" }, "Start run");
  const form = make(
    "form",
    { className: "run-form", noValidate: true, "aria-label": "Start a run", onchange: arrange },
    field("run-end", "Run", ends, amount, unit),
    field("run-pace", "Pace", paces, factor),
    field("run-period", "Period", period, make("span", { className: "unit" }, "s")),
    make(
      "div",
      { className: "entry wide" },
      make("label", { className: "choice", htmlFor: "run-record" }, record, "Record"),
      recorded,
    ),
    button,
  );
  /** @returns {Promise<RunRequest | null>} */
  const read = async () => {
    const step = positive(period);
    const speed = paces.value === "x" ? positive(factor) : Number(paces.value);
    const size = ends.value === "never" ? Infinity : positive(amount);
    const rows = record.checked && !record.disabled;
    const some = which.all() ? {} : { outputs: which.chosen() };
    const nth = rows ? positive(every) : 1;
    if ([step, speed, size, nth].some(Number.isNaN)) {
      return null;
    }
    return {
      pace: speed,
      period: step,
      ...(ends.value === "until" ? { until: size } : {}),
      ...(ends.value === "count" ? { count: size } : {}),
      ...(ends.value === "for" ? await endAfter(info.id, size, step) : {}),
      ...(rows ? { record: { every: nth, ...some } } : {}),
    };
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const request = await read().catch((error) => tell("start the run", error));
    if (request === null) {
      tell("start the run", new Error("the marked fields need a positive number"));
      const wrong = form.querySelector("input.wrong");
      if (wrong instanceof HTMLInputElement) {
        wrong.focus();
      }
      return;
    }
    if (request) {
      await start(request);
    }
  });
  arrange();
  return { element: form, button };
}
