/**
 * Gaps of a curve: a run that is free of the clock passes more time between two frames than a line
 * may bridge.
 */

/** @typedef {import("./types.js").Run} Run */

const FRAME = 1 / 30; // s of the clock between two frames of a stream
const MOST = 8; // times the usual distance of samples

export class Gaps {
  /** @param {import("./series.js").Series} series */
  constructor(series) {
    this.series = series;
    /** @type {Run | null} the newest run that is free of the clock */
    this.run = null;
    /** @type {Set<string> | null} runs that have ended; null: not fetched */
    this.past = null;
  }

  /** Runs as they are now. @param {Run[]} runs newest first */
  follow(runs) {
    const ended = runs.filter((run) => run.state !== "running").map((run) => run.id);
    this.past ??= new Set(ended);
    const free = runs.find((run) => run.pace === 0 && !this.past?.has(run.id));
    if (free) {
      this.run = free;
      this.mark(this.series.from(free.start));
    }
  }

  /** A new sample; after a reset the times of the run do not apply. @param {number} time */
  before(time) {
    if (this.run && this.run.state !== "running" && time < this.series.last) {
      this.past?.add(this.run.id);
      this.run = null;
    }
  }

  /** @param {number} [first] sample that may be separate from the one before */
  mark(first = this.series.count - 1) {
    const { run, series } = this;
    if (run === null) {
      return;
    }
    const most = MOST * Math.max(run.period, FRAME);
    const end = run.state === "running" ? Infinity : run.time;
    for (let i = Math.max(1, first); i < series.count && series.time(i) <= end; i++) {
      if (series.time(i) > run.start && series.distance(i) > most) {
        series.part(i);
      }
    }
  }
}
