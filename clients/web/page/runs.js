/** Runs of an instance: a form that starts one, and the last ones with progress and results. */
import * as api from "./api.js";
import { make } from "./dom.js";
import { progress } from "./events.js";
import { clock, number } from "./format.js";
import { Listed } from "./listed.js";
import { attempt } from "./notices.js";
import { Results, save } from "./results.js";
import { runForm } from "./run_form.js";
import { Wait } from "./waiting.js";

/** @typedef {import("./types.js").Run} Run */

const CHART_PERIOD = 500; // ms between two requests for new rows

/** @param {number} s of the clock */
function span(s) {
  if (s < 60) {
    return `${number(s, s < 10 ? 2 : 3)} s`;
  }
  const minutes = Math.floor(s / 60);
  return minutes < 60
    ? `${minutes} min ${Math.floor(s % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {Run} run */
function pace({ pace: factor }) {
  return factor === 0
    ? "as fast as possible"
    : factor === 1
      ? "real time"
      : `${number(factor)} × real time`;
}

/** One run in the list. */
class Row extends Listed {
  /**
   * @param {Runs} runs
   * @param {Run} run
   */
  constructor(runs, run) {
    super("run", run.id);
    this.runs = runs;
    this.run = run;
    /** @type {Results | null} */
    this.results = null;
    this.looked = 0;
    this.late = make("span", { className: "late number", title: "periods that were late" });
    this.progress.append(this.late);
    this.stop = this.button("Stop", () => void this.halt());
    this.chart = this.button("Chart", () => this.toggle());
    this.chart.setAttribute("aria-expanded", "false");
    this.csv = this.button("CSV", () => void this.download("csv"));
    this.npy = this.button("NPY", () => void this.download("npy"));
    this.forget = this.button("Discard rows", () => void this.drop());
    this.show(run);
  }

  end() {
    this.results?.end();
  }

  /** @param {Run} run */
  show(run) {
    const running = run.state === "running";
    this.run = run;
    const end = run.until === null ? "until it is stopped" : `to ${clock(run.until)}`;
    this.about.textContent = `${clock(run.start)} ${end}, ${pace(run)}`;
    const rows = run.recorded ?? 0;
    this.tell({
      state: run.state,
      bad: run.state === "failed",
      done: run.fraction,
      facts: [
        `at ${clock(run.time)}`,
        running && run.remaining !== null
          ? `${span(run.remaining)} left`
          : `${running ? "for" : "took"} ${span(run.elapsed)}`,
        rows > 0 ? `${number(rows, 9)} rows` : run.record ? "rows discarded" : "",
        run.reason ?? "",
      ],
    });
    this.late.textContent = `${run.overruns} overrun${run.overruns === 1 ? "" : "s"}`;
    this.late.hidden = run.overruns === 0;
    this.stop.hidden = !running;
    this.chart.hidden = this.csv.hidden = this.npy.hidden = rows === 0;
    this.forget.hidden = rows === 0 || running;
    if (rows === 0 && this.results) {
      this.toggle();
    }
    this.follow();
  }

  /** The chart takes new rows twice a second, and the last ones at once. */
  follow() {
    const now = performance.now();
    if (this.results && (this.run.state !== "running" || now - this.looked > CHART_PERIOD)) {
      this.looked = now;
      void this.results
        .follow(this.run)
        .catch((error) => this.runs.tell("read the results", error));
    }
  }

  toggle() {
    if (this.results) {
      this.results.end();
      this.results = null;
      this.place.replaceChildren();
    } else {
      this.results = new Results(this.runs.id, this.run, this.runs.outputs);
      this.place.replaceChildren(this.results.element);
      this.looked = 0;
      this.follow();
    }
    this.chart.setAttribute("aria-expanded", String(this.results !== null));
    this.setText(this.chart, this.results ? "Hide chart" : "Chart");
  }

  async halt() {
    const run = await attempt("stop the run", () => api.stop(this.runs.id, this.run.id));
    if (run) {
      this.show(run);
      this.runs.changed();
    }
  }

  /** @param {"csv" | "npy"} format */
  async download(format) {
    const { id } = this.runs;
    const content = await attempt("download the results", () =>
      api.table(id, this.run.id, format),
    );
    if (content) {
      save(content, `${id}-${this.run.id}.${format}`);
    }
  }

  async drop() {
    await attempt("discard the rows", () => api.forget(this.runs.id, this.run.id));
    await this.runs.refresh();
  }
}

export class Runs {
  /**
   * @param {import("./types.js").Instance} info
   * @param {import("./types.js").Variable[]} outputs
   * @param {() => void} changed a run has begun or ended
   * @param {(runs: Run[]) => void} told runs as they are now, newest first
   */
  constructor(info, outputs, changed, told) {
    this.id = info.id;
    this.outputs = outputs;
    this.changed = changed;
    this.told = told;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {{rid: string, end: () => void} | null} events of the run in progress */
    this.followed = null;
    this.ended = false;
    this.form = runForm(info, outputs, (request) => this.start(request));
    this.wait = new Wait();
    this.form.button.after(this.wait.element);
    this.list = make("ul", { className: "runs" });
    this.none = make("p", { className: "quiet" }, "No runs yet.");
    this.lost = make("p", { className: "quiet", role: "status", hidden: true });
    this.lost.textContent = "The connection to the run is lost; reconnecting.";
    this.element = make(
      "section",
      { className: "panel", "aria-label": "Runs" },
      make("h2", {}, "Runs"),
      this.form.element,
      this.lost,
      this.none,
      this.list,
    );
  }

  end() {
    this.ended = true;
    this.followed?.end();
    this.rows.forEach((row) => row.end());
  }

  /** No run can begin now. @param {boolean} busy */
  setBusy(busy) {
    this.form.button.disabled = busy;
  }

  /** @param {string} doing @param {unknown} error */
  tell(doing, error) {
    void attempt(doing, () => Promise.reject(error));
  }

  /** @param {import("./types.js").RunRequest} request */
  async start(request) {
    const run = await this.wait.during(() =>
      attempt("start the run", () => api.run(this.id, request)),
    );
    if (run && !this.ended) {
      this.take([run, ...[...this.rows.values()].map((row) => row.run)]);
      this.changed();
    }
  }

  /** Fetch the list of runs. */
  async refresh() {
    const runs = await api.runs(this.id).catch(() => null);
    if (runs && !this.ended) {
      this.take(runs);
    }
  }

  /** @param {Run[]} runs newest first */
  take(runs) {
    this.told(runs);
    for (const [rid, row] of this.rows) {
      if (!runs.some((run) => run.id === rid)) {
        row.end();
        row.element.remove();
        this.rows.delete(rid);
      }
    }
    for (const run of [...runs].reverse()) {
      const row = this.rows.get(run.id);
      if (row) {
        row.show(run);
      } else {
        const made = new Row(this, run);
        this.rows.set(run.id, made);
        this.list.prepend(made.element);
      }
    }
    this.none.hidden = runs.length > 0;
    const running = runs.find((run) => run.state === "running");
    if (running && running.id !== this.followed?.rid) {
      this.follow(running.id);
    }
  }

  /** @param {string} rid */
  follow(rid) {
    this.followed?.end();
    const end = progress(
      this.id,
      rid,
      (run) => {
        if (this.ended) {
          return;
        }
        this.rows.get(rid)?.show(run);
        this.told([run]);
        if (run.state !== "running") {
          this.followed = null;
          this.changed();
        }
      },
      (connected) => {
        this.lost.hidden = connected || this.ended;
      },
    );
    this.followed = { rid, end };
  }
}
