/**
 * Sweeps. They belong to the server, which does not record the instance they were started from: an
 * instance shows those of models with its model's name, a separate page shows all, also those of
 * couplings, which programs start.
 */
import * as api from "./api.js";
import { make } from "./dom.js";
import { number } from "./format.js";
import { Listed } from "./listed.js";
import { attempt } from "./notices.js";
import { save } from "./results.js";
import { sweepForm } from "./sweep_form.js";
import { SweepTable } from "./sweep_table.js";

/** @typedef {import("./types.js").Sweep} Sweep */

const BUSY = 400, // ms between two requests while one runs
  IDLE = 3000;

/** One sweep in the list. */
class Row extends Listed {
  /** @param {SweepList} list @param {Sweep} sweep */
  constructor(list, sweep) {
    super("sweep", sweep.id);
    this.list = list;
    this.sweep = sweep;
    /** @type {SweepTable | null} */
    this.table = null;
    /** failed points whose reasons are shown */
    this.told = 0;
    this.open = this.button("Table", () => this.toggle());
    this.open.setAttribute("aria-expanded", "false");
    this.button("CSV", () => void this.download("csv"));
    this.button("NPY", () => void this.download("npy"));
    this.away = this.button("Delete", () => void this.remove());
    this.why = make("summary", {});
    this.reasons = make("ul", {});
    this.failures = make("details", { className: "failures" }, this.why, this.reasons);
    this.failures.addEventListener("toggle", () => void this.explain());
    this.place.before(this.failures);
    this.about.textContent = this.over();
    this.show(sweep);
  }

  over() {
    const { name, parameters, points } = this.sweep;
    const over = `${parameters.join(" × ")}, ${number(points, 9)} point${points === 1 ? "" : "s"}`;
    return this.list.named && name !== "" ? `${name}: ${over}` : over;
  }

  /** @param {Sweep} sweep */
  show(sweep) {
    const running = sweep.state === "running";
    this.sweep = sweep;
    this.tell({
      state: sweep.state,
      bad: sweep.state === "interrupted",
      done: sweep.done / Math.max(1, sweep.points),
      facts: [
        `${number(sweep.done, 9)} of ${number(sweep.points, 9)} points`,
        sweep.stored ? "stored" : "",
      ],
    });
    this.setText(this.away, running ? "Stop and delete" : "Delete");
    this.failures.hidden = sweep.failed === 0;
    this.why.textContent = `${number(sweep.failed, 9)} failed`;
    void this.explain();
    void this.follow();
  }

  /** Reasons of failed points, fetched when the list is opened. */
  async explain() {
    const { id, failed } = this.sweep;
    if (!this.failures.open || this.told === failed) {
      return;
    }
    this.told = failed;
    const errors = (await api.oneSweep(id).catch(() => null))?.errors;
    if (!errors) {
      this.told = 0;
      return;
    }
    // they come in the order in which they failed
    errors.sort((one, other) => one.point - other.point);
    const left = failed > errors.length ? [make("li", {}, "… and others")] : [];
    this.reasons.replaceChildren(
      ...errors.map(({ point, code, message }) =>
        make(
          "li",
          {},
          `Point ${point}: ${message}`,
          make("span", { className: "quiet" }, ` (${code})`),
        ),
      ),
      ...left,
    );
  }

  async follow() {
    try {
      await this.table?.follow(this.sweep);
    } catch (error) {
      void attempt("read the results", () => Promise.reject(error));
    }
  }

  toggle() {
    this.table = this.table ? null : new SweepTable(this.sweep.id);
    this.place.replaceChildren(...(this.table ? [this.table.element] : []));
    this.open.setAttribute("aria-expanded", String(this.table !== null));
    this.setText(this.open, this.table ? "Hide table" : "Table");
    this.show(this.sweep);
  }

  /** @param {"csv" | "npy"} format */
  async download(format) {
    const { id } = this.sweep;
    const content = await attempt("download the results", () => api.sweepFile(id, format));
    if (content) {
      save(content, `${id}.${format}`);
    }
  }

  async remove() {
    await attempt(`delete ${this.sweep.id}`, () => api.deleteSweep(this.sweep.id));
    await this.list.refresh();
  }
}

/** Sweeps of the server, or those that match, fetched periodically. */
class SweepList {
  /**
   * @param {boolean} named each is shown with its model's name
   * @param {(sweep: Sweep) => boolean} fits
   * @param {string} none the text for an empty list
   */
  constructor(named, fits, none) {
    this.named = named;
    this.fits = fits;
    this.ended = false;
    this.timer = 0;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.none = make("p", { className: "quiet", hidden: true }, none);
    this.list = make("ul", { className: "sweeps" });
    this.element = make("div", {}, this.none, this.list);
    void this.refresh();
  }

  end() {
    this.ended = true;
    clearTimeout(this.timer);
  }

  async refresh() {
    clearTimeout(this.timer);
    const sweeps = await api.sweeps().catch(() => null);
    if (this.ended) {
      return;
    }
    if (sweeps) {
      this.take(sweeps.filter(this.fits));
    }
    const busy = [...this.rows.values()].some((row) => row.sweep.state === "running");
    clearTimeout(this.timer);
    const pause = (busy ? BUSY : IDLE) * (document.hidden ? 4 : 1);
    this.timer = window.setTimeout(() => void this.refresh(), pause);
  }

  /** @param {Sweep[]} sweeps oldest first */
  take(sweeps) {
    for (const [wid, row] of this.rows) {
      if (!sweeps.some((sweep) => sweep.id === wid)) {
        row.element.remove();
        this.rows.delete(wid);
      }
    }
    for (const sweep of sweeps) {
      const row = this.rows.get(sweep.id);
      if (row) {
        row.show(sweep);
      } else {
        const made = new Row(this, sweep);
        this.rows.set(sweep.id, made);
        this.list.prepend(made.element);
      }
    }
    this.none.hidden = sweeps.length > 0;
  }
}

const NAME_MOST = 127; // bytes that a sweep stores of its model's name

/** Names of parameters of couplings have a slash, those of models none. @param {Sweep} sweep */
const ofCoupling = (sweep) => sweep.parameters.some((name) => name.includes("/"));

/** Has the sweep a model of this name? @param {string} name @param {Sweep} sweep */
function ofModel(name, sweep) {
  if (ofCoupling(sweep)) {
    return false;
  }
  const kept = sweep.name.replace(/\ufffd$/, "");
  const cut = new TextEncoder().encode(kept).length > NAME_MOST - 4;
  return cut ? name.startsWith(kept) : name === sweep.name;
}

/** The panel of an instance: a form, and the sweeps of models like its own. */
export class Sweeps {
  /**
   * @param {import("./types.js").Instance} info
   * @param {import("./types.js").Variable[]} variables of the instance
   */
  constructor(info, variables) {
    this.id = info.id;
    this.outputs = variables.filter((v) => v.causality === "output");
    const some = variables.some((v) => v.causality === "parameter");
    this.button = make("button", { type: "button", hidden: !some }, "New sweep");
    this.button.setAttribute("aria-expanded", "false");
    this.button.onclick = () => void this.toggle();
    this.place = make("div", {});
    const none = some
      ? "No sweeps yet. A sweep runs the model with many sets of parameters."
      : "This model has no parameters.";
    this.list = new SweepList(false, (sweep) => ofModel(info.name ?? "", sweep), none);
    this.element = make(
      "section",
      { className: "panel", "aria-label": "Sweeps" },
      make("div", { className: "title" }, make("h2", {}, "Sweeps of this model"), this.button),
      this.place,
      this.list.element,
    );
  }

  end() {
    this.list.end();
  }

  async toggle() {
    if (this.place.childElementCount > 0) {
      this.place.replaceChildren();
      this.button.setAttribute("aria-expanded", "false");
      this.button.focus();
      return;
    }
    const parameters = await attempt("read the parameters", () => api.parameters(this.id));
    if (parameters && this.place.childElementCount === 0) {
      const form = sweepForm(
        parameters,
        this.outputs,
        (request) => this.start(request),
        () => void this.toggle(),
      );
      this.place.replaceChildren(form);
      this.button.setAttribute("aria-expanded", "true");
      form.querySelector("select")?.focus();
    }
  }

  /** @param {import("./types.js").SweepRequest} request */
  async start(request) {
    await attempt("start the sweep", async () => {
      const [model, now] = await Promise.all([api.model(this.id), api.parameters(this.id)]);
      // the document has its initial values
      await api.sweep({ ...request, model: { ...model, parameters: now } });
    });
    await this.list.refresh();
  }
}

/** All sweeps of the server. */
export class SweepPage {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.list = new SweepList(true, () => true, "This server has no sweeps.");
    place.replaceChildren(
      make("div", { className: "head" }, make("h1", {}, "Sweeps")),
      make(
        "p",
        { className: "quiet" },
        "A sweep runs a model with many sets of parameters. It is started from an instance and " +
          "uses its model; it continues when the instance is deleted. Sweeps of couplings are " +
          "started by programs, for example by mechctl sweep --coupling.",
      ),
      make(
        "section",
        { className: "panel", "aria-label": "Sweeps of the server" },
        this.list.element,
      ),
    );
  }

  end() {
    this.list.end();
    this.place.replaceChildren();
  }
}
