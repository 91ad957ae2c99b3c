/** The selected instance: commands, live plot, drawing, inputs and values. */
import * as api from "./api.js";
import { channelsOf, legend, pick } from "./curves.js";
import { make } from "./dom.js";
import { Drawing } from "./drawing.js";
import { live } from "./events.js";
import { clock, steady } from "./format.js";
import { Gaps } from "./gaps.js";
import { Driver } from "./lease.js";
import { attempt, tell } from "./notices.js";
import { Plot } from "./plot.js";
import { Runs } from "./runs.js";
import { Series } from "./series.js";
import { Snapshots } from "./snapshots.js";
import { Sweeps } from "./sweeps.js";
import { Systems } from "./systems.js";
import { Traits } from "./traits.js";
import { ValueForm } from "./values.js";
import { Wait, isLate, onLate } from "./waiting.js";

/** @typedef {import("./types.js").Channel} Channel */
/** @typedef {import("./types.js").Sample} Sample */

const WINDOWS = [
  ["5 s", 5],
  ["10 s", 10],
  ["30 s", 30],
  ["60 s", 60],
  ["all", Infinity],
];

/**
 * The warnings of the model.
 * @param {import("./types.js").Instance} info
 */
const warned = ({ warnings = [] }) =>
  warnings.length === 0
    ? ""
    : make(
        "ul",
        { className: "warnings", "aria-label": "Warnings of the model" },
        ...warnings.map(({ pointer, message }) =>
          make("li", {}, make("code", {}, pointer), ` ${message}`),
        ),
      );

export class Detail {
  /**
   * @param {HTMLElement} place
   * @param {string} id
   * @param {object} page
   * @param {() => void} page.changed a property in the list has changed
   * @param {(text: string, good: boolean) => void} page.link shows the state of the live connection
   * @param {() => void} page.again the id is that of another instance now, to be shown anew
   * @param {(label: string) => void} page.choose shows instances with this label
   * @param {() => import("./types.js").Who | undefined} page.who asks
   */
  constructor(place, id, page) {
    this.place = place;
    this.id = id;
    this.page = page;
    this.ended = false;
    this.fetching = false;
    this.stale = false;
    /** the model has nothing to draw */
    this.bare = false;
    this.waits = { run: new Wait(), step: new Wait(), reset: new Wait(), remove: new Wait() };
    /** the live connection is down */
    this.broken = false;
    /** which instance with this id is shown, once an event has said so */
    this.life = "";
    /** it is deleted; the id may be that of another one */
    this.gone = false;
    /** a command other than a run is in progress */
    this.busy = false;
    /** @type {(() => void)[]} actions at the end */
    this.endings = [onLate(() => this.setRun(this.run))];
    /** @type {string | null} */
    this.run = null;
  }

  /** Fetch everything once, build the panels, then follow the live events. */
  async open() {
    const [info, variables, first] = await Promise.all([
      api.instance(this.id),
      api.variables(this.id),
      api.outputs(this.id),
    ]);
    this.buildValues(variables);
    await Promise.all([this.inputs?.refresh(), this.parameters?.refresh()]);
    if (this.ended) {
      return;
    }
    const outputs = variables.filter((v) => v.causality === "output");
    this.channels = channelsOf(outputs);
    this.series = new Series(this.channels.length);
    this.gaps = new Gaps(this.series);
    this.info = info;
    this.buildService(info, variables);
    this.build();
    this.busy = info.busy;
    this.setRun(info.run?.id ?? null);
    this.receive({ ...first, step: info.step });
    void this.readService();
    this.endings.push(
      live(
        this.id,
        (sample) => this.take(sample),
        (connected) => {
          this.broken = !connected;
          this.page.link(connected ? "live" : "reconnecting", connected);
        },
        () => {
          this.gone = true;
        },
      ),
    );
  }

  end() {
    this.ended = true;
    this.endings.forEach((ending) => ending());
    this.place.replaceChildren();
  }

  /**
   * The panels around the model: runs, sweeps, snapshots, leases, labels.
   * @param {import("./types.js").Instance} info
   * @param {import("./types.js").Variable[]} variables
   */
  buildService(info, variables) {
    const outputs = variables.filter((v) => v.causality === "output");
    const changed = () => {
      void this.readRun();
      this.page.changed();
    };
    const runs = new Runs(info, outputs, changed, (all) => {
      this.gaps?.follow(all);
      this.plot?.request();
    });
    const snapshots = new Snapshots(this.id, () => void this.rewound());
    const traits = new Traits(info, this.page.choose, this.page.changed);
    const inputs = variables.filter((v) => v.causality === "input").map((v) => v.name);
    const driver = new Driver(this.id, inputs, this.page.who, (limits) => this.setLimits(limits));
    const sweeps = new Sweeps(info, variables);
    this.service = { runs, sweeps, snapshots, traits, driver };
    this.endings.push(...Object.values(this.service).map((part) => () => part.end()));
  }

  /** @param {import("./types.js").Variable[]} variables */
  buildValues(variables) {
    const { id } = this;
    this.inputs = new ValueForm(
      "input",
      variables,
      () => api.inputs(id),
      (values) => api.setInputs(id, values),
    );
    this.parameters = new ValueForm(
      "parameter",
      variables,
      () => api.parameters(id),
      (values) => api.setParameters(id, values),
    );
  }

  /** Fetch the parts without live events. */
  async readService() {
    const { runs, snapshots, driver } = this.service ?? {};
    const parts = [runs, snapshots, driver, this.inputs, this.parameters];
    await Promise.all(parts.map((part) => part?.refresh()));
  }

  /**
   * Another client has a lease: controls that would be refused are disabled.
   * @param {import("./lease.js").Limits} limits
   */
  setLimits(limits) {
    this.foreign = limits.commands;
    this.setRun(this.run);
    const by = (/** @type {string} */ name) => limits.input(name);
    this.inputs?.leave((name) => (by(name) ? `set by ${by(name)}` : ""));
    this.parameters?.leave(() => limits.driver);
  }

  /** The state is an earlier one. */
  async rewound() {
    const [now, info] = await Promise.all([api.outputs(this.id), api.instance(this.id)]);
    this.receive({ ...now, step: info.step });
    void this.readService();
    this.page.changed();
  }

  build() {
    const info = /** @type {import("./types.js").Instance} */ (this.info);
    this.time = make("span", { className: "time", "data-role": "time" });
    this.steps = make("span", { className: "quiet" });
    this.badge = make("span", { className: "badge" });
    const head = make(
      "div",
      { className: "head" },
      make("h1", {}, info.name || info.id),
      make("span", { className: "quiet" }, info.id),
      this.badge,
      make("span", { className: "grow" }),
      this.time,
      this.steps,
    );
    const canvas = make("canvas", {
      className: "plot",
      tabIndex: 0,
      role: "img",
      "aria-label":
        "Outputs over time; arrow keys move the cursor, the values are in the table Outputs",
    });
    this.plot = new Plot(canvas, /** @type {Series} */ (this.series), this.channels ?? []);
    this.endings.push(() => this.plot?.end());
    const picture = make("canvas", {
      className: "drawing",
      role: "img",
      "aria-label": "Positions of the bodies",
    });
    this.drawing = new Drawing(picture);
    this.endings.push(() => this.drawing?.end());
    const chart = make("canvas", {
      className: "drawing systems",
      role: "img",
      "aria-label": "Coordinates of the systems",
    });
    this.systems = new Systems(chart);
    this.endings.push(() => this.systems?.end());
    this.forces = make("input", { type: "checkbox", onchange: () => void this.redraw() });
    this.touch = make(
      "label",
      { className: "quiet choice", hidden: true },
      this.forces,
      "Contacts and their forces",
    );
    this.picture = make(
      "section",
      { className: "panel", hidden: true, "aria-label": "Drawing" },
      this.touch,
      picture,
      chart,
    );
    const { runs, sweeps, snapshots, traits, driver } = this.service ?? {};
    const part = (/** @type {{element: HTMLElement} | undefined} */ of) => of?.element ?? "";
    this.place.replaceChildren(
      head,
      make("div", { className: "about" }, traits?.facts ?? "", part(driver)),
      traits?.form ?? "",
      driver?.form ?? "",
      warned(info),
      this.toolbar(info),
      make(
        "div",
        { className: "grid" },
        make(
          "div",
          { className: "column" },
          make(
            "section",
            { className: "panel", "aria-label": "Plot" },
            make(
              "div",
              { className: "bar" },
              legend(this.channels ?? [], () => this.plot?.request()),
              this.windows(),
            ),
            canvas,
          ),
          this.picture,
        ),
        make(
          "div",
          { className: "column" },
          ...this.values(),
          make("section", { className: "panel" }, make("h2", {}, "Outputs"), this.table()),
          part(snapshots),
        ),
      ),
      part(runs),
      part(sweeps),
    );
  }

  /** The panels of inputs and, where the model has some, parameters. */
  values() {
    const panel = (/** @type {string} */ title, /** @type {HTMLElement | undefined} */ element) =>
      make("section", { className: "panel" }, make("h2", {}, title), element ?? "");
    const inputs = this.inputs?.fields.size
      ? this.inputs.element
      : make("p", { className: "quiet" }, "This model has no inputs.");
    const parameters = this.parameters?.fields.size
      ? [panel("Parameters", this.parameters.element)]
      : [];
    return [panel("Inputs", inputs), ...parameters];
  }

  /** @param {import("./types.js").Instance} info */
  toolbar(info) {
    const button = (/** @type {string} */ text, /** @type {() => void} */ act, className = "") =>
      make("button", { type: "button", className, onclick: act }, text);
    this.runButton = button("Run in real time", () => void this.toggleRun(), "primary");
    const size = make("input", {
      id: "size",
      type: "text",
      inputMode: "decimal",
      autocomplete: "off",
      value: String(Number((10 * info.stepSize).toPrecision(6))),
    });
    const step = button("Step", () => void this.step(size));
    size.addEventListener("keydown", (event) => event.key === "Enter" && void this.step(size));
    this.stepButton = step;
    this.resetButton = button("Reset", () => void this.reset());
    const remove = button("Delete", () => void this.remove(remove), "danger");
    return make(
      "div",
      { className: "toolbar", role: "toolbar", "aria-label": "Commands" },
      this.runButton,
      this.waits.run.element,
      make(
        "span",
        { className: "joined" },
        step,
        make("label", { htmlFor: "size", className: "hidden" }, "Step size in seconds"),
        size,
        make("span", { className: "unit" }, "s"),
        this.waits.step.element,
      ),
      this.resetButton,
      this.waits.reset.element,
      make("span", { className: "grow" }),
      this.waits.remove.element,
      remove,
    );
  }

  windows() {
    const select = make(
      "select",
      { "aria-label": "Time shown" },
      ...WINDOWS.map(([text, seconds]) =>
        make("option", { value: String(seconds), selected: seconds === 10 }, String(text)),
      ),
    );
    select.onchange = () => {
      if (this.plot) {
        this.plot.window = Number(select.value);
        this.plot.request();
      }
    };
    return select;
  }

  table() {
    /** @type {HTMLTableCellElement[]} */
    this.cells = [];
    const rows = (this.channels ?? []).map((channel) => {
      const cell = make("td", { className: "number", "data-output": channel.label });
      this.cells?.push(cell);
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, channel.label),
        cell,
        make("td", { className: "unit" }, channel.unit),
      );
    });
    return make("table", { className: "values" }, make("tbody", {}, ...rows));
  }

  /** A live event, of this instance or of another one with its id. @param {Sample} sample */
  take(sample) {
    const life = sample.life ?? "";
    if (this.ended) {
      return;
    }
    if (this.life !== "" && life !== this.life) {
      this.page.again();
      return;
    }
    this.life = life;
    this.receive(sample);
  }

  /** @param {Sample} sample */
  receive(sample) {
    if (this.ended || !this.channels || !this.series) {
      return;
    }
    const values = pick(this.channels, sample.outputs);
    this.gaps?.before(sample.time);
    this.series.add(sample.time, values);
    this.gaps?.mark();
    this.plot?.request();
    this.cells?.forEach((cell, k) => {
      cell.textContent = steady(values[k]);
    });
    if (this.time && this.steps) {
      this.time.textContent = clock(sample.time);
      this.steps.textContent = Number.isFinite(sample.step) ? `step ${sample.step}` : "";
    }
    if (sample.running !== undefined && sample.running !== (this.run !== null)) {
      void this.readRun();
    }
    void this.redraw();
  }

  /** One request for the scene at a time; of the samples meanwhile the last one is used. */
  async redraw() {
    this.stale = true;
    if (this.fetching || this.bare || document.hidden) {
      return;
    }
    this.fetching = true;
    while (this.stale && !this.ended) {
      this.stale = false;
      try {
        const scene = await api.scene(this.id);
        if (this.touch) {
          this.touch.hidden = scene.contacts === undefined;
        }
        const touching = this.forces?.checked ? await api.contacts(this.id) : [];
        this.drawing?.show(scene.bodies ?? [], touching);
        this.systems?.show(scene.systems ?? [], scene.time);
        this.unveil();
      } catch (fault) {
        // the drawing is optional: the live link reports a lost server; an FMU has none
        this.bare = fault instanceof api.Problem && fault.code === "invalid-request";
        if (this.picture && this.bare) {
          this.picture.hidden = true;
        }
      }
    }
    this.fetching = false;
  }

  /** Show the pictures that are not empty. */
  unveil() {
    const bodies = (this.drawing?.bodies.length ?? 0) > 0;
    const systems = (this.systems?.systems.length ?? 0) > 0;
    // bodies without a position never get one: no need to fetch again
    this.bare = !bodies && !systems;
    if (this.picture && this.drawing && this.systems) {
      this.picture.hidden = this.bare;
      this.drawing.canvas.hidden = !bodies;
      this.systems.canvas.hidden = !systems;
      // both fit on a screen
      this.plot?.canvas.classList.toggle("low", systems);
    }
  }

  /** @param {string | null} run id of the run in progress */
  setRun(run) {
    this.run = run;
    if (this.runButton && this.badge && this.stepButton && this.resetButton) {
      const foreign = this.foreign === true;
      this.runButton.disabled = foreign;
      this.resetButton.disabled = foreign;
      this.service?.runs.setBusy(run !== null || foreign);
      const busy = this.busy || isLate(api.at(this.id));
      this.runButton.textContent = run || busy ? "Stop" : "Run in real time";
      this.badge.textContent = run ? "running" : busy ? "busy" : "idle";
      this.badge.classList.toggle("on", run !== null);
      this.stepButton.disabled = run !== null || foreign;
    }
  }

  /** A client started or ended a run: fetch it. */
  async readRun() {
    const whole = await api.instance(this.id).catch(() => null);
    if (whole && !this.ended) {
      this.setRun(whole.run?.id ?? null);
    }
  }

  /** The list has new data of this instance. @param {import("./types.js").Instance} info */
  async refresh(info) {
    if (!this.info || this.ended) {
      return;
    }
    if (this.gone) {
      this.page.again();
      return;
    }
    this.service?.traits.show(info);
    if (info.busy !== this.busy) {
      this.busy = info.busy;
      this.setRun(this.run);
    }
    if (info.running !== (this.run !== null)) {
      await this.readRun();
    }
    // a request counts as use, and only watching must not keep an instance alive
    const used = Date.now() - 1000 * ((info.ttl ?? 0) - (info.ttlLeft ?? 0));
    if (info.ttl === undefined || used > api.askedAt(this.id) + 500) {
      await this.readService();
    }
  }

  /** The one button: it starts a run, or stops the command in progress. */
  async toggleRun() {
    const run = this.run;
    await this.waits.run.during(async () => {
      if (run) {
        await attempt("stop the run", () => api.stop(this.id, run));
        this.setRun(null);
      } else if (this.busy || isLate(api.at(this.id))) {
        const told = await attempt("stop", () => api.stopCommand(this.id));
        if (told?.stopped === false) {
          tell("stop", new Error("no step is in progress"));
        }
      } else {
        const made = await attempt("run", () => api.run(this.id, { pace: 1 }));
        this.setRun(made?.id ?? null);
      }
    });
    void this.service?.runs.refresh();
    this.page.changed();
  }

  /** @param {HTMLInputElement} box */
  async step(box) {
    const size = Number(box.value);
    box.classList.toggle("wrong", !(size > 0));
    if (!(size > 0)) {
      tell("step", new Error("the step size is a positive number of seconds"));
      return;
    }
    const sample = await this.waits.step.during(() =>
      attempt("step", () => api.step(this.id, size)),
    );
    if (sample) {
      this.receive(sample);
      this.page.changed();
    }
  }

  reset() {
    return this.waits.reset.during(() =>
      attempt("reset", async () => {
        await api.reset(this.id);
        await this.rewound();
      }),
    );
  }

  /** The first press asks to confirm, the second deletes. @param {HTMLButtonElement} button */
  async remove(button) {
    if (button.dataset.sure !== "yes") {
      button.dataset.sure = "yes";
      button.textContent = "Delete for good?";
      setTimeout(() => {
        button.dataset.sure = "";
        button.textContent = "Delete";
      }, 4000);
      return;
    }
    const done = await this.waits.remove.during(() =>
      attempt("delete", async () => {
        await api.remove(this.id);
        return true;
      }),
    );
    if (done) {
      location.hash = "";
      this.page.changed();
    }
  }
}
