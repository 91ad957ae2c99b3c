/** Recorded rows of a run as a chart that follows the run, and as files. */
import * as api from "./api.js";
import { channelsOf, legend, size } from "./curves.js";
import { make } from "./dom.js";
import { number } from "./format.js";
import { Plot } from "./plot.js";
import { Series } from "./series.js";

/** @typedef {import("./types.js").Run} Run */

const ROWS_MOST = 100000, // of a chart
  NUMBERS_MOST = 4000000; // of one answer: 32 MB

export class Results {
  /**
   * @param {string} id of the instance
   * @param {Run} run
   * @param {import("./types.js").Variable[]} outputs of the instance
   */
  constructor(id, run, outputs) {
    this.id = id;
    this.rid = run.id;
    // columns are in the instance's order
    const recorded = outputs.filter((v) => run.record?.outputs.includes(v.name));
    this.channels = channelsOf(recorded);
    this.width = recorded.reduce((sum, v) => sum + size(v), 1);
    this.series = new Series(this.channels.length, ROWS_MOST);
    this.fetching = false;
    /** an error is reported once; a new chart tries again */
    this.failed = false;
    /** rows received, and rows available */
    this.count = 0;
    this.wanted = 0;
    const canvas = make("canvas", {
      className: "plot low",
      tabIndex: 0,
      role: "img",
      "aria-label": `Recorded outputs of run ${run.id} over time; arrow keys move the cursor`,
    });
    this.plot = new Plot(canvas, this.series, this.channels);
    this.plot.window = Infinity;
    this.note = make("p", { className: "quiet note", role: "status" });
    this.element = make(
      "div",
      { className: "results" },
      legend(this.channels, () => this.plot.request()),
      canvas,
      this.note,
    );
  }

  end() {
    this.plot.end();
  }

  /** Fetch what has been recorded since. @param {Run} run */
  async follow(run) {
    this.wanted = run.recorded ?? 0;
    if (this.fetching || this.failed) {
      return;
    }
    this.fetching = true;
    this.failed = true;
    try {
      while (this.count < Math.min(this.wanted, ROWS_MOST)) {
        const before = this.count;
        await this.fetch();
        if (this.count === before) {
          break;
        }
      }
      this.failed = false;
    } finally {
      this.fetching = false;
      this.tell();
    }
  }

  async fetch() {
    // the last row is sent again: times are exact to the last bit
    const known = this.count > 0;
    const room = Math.min(ROWS_MOST - this.count, Math.floor(NUMBERS_MOST / this.width)) + 1;
    const values = await api.rows(this.id, this.rid, this.series.last, room);
    for (let at = known ? this.width : 0; at < values.length; at += this.width) {
      if (this.count < ROWS_MOST) {
        // no copy: curves are the first columns after time
        this.series.add(values[at], values.subarray(at + 1, at + 1 + this.channels.length));
        this.count++;
      }
    }
    this.plot.request();
  }

  tell() {
    const rows = `${number(this.count)} row${this.count === 1 ? "" : "s"}`;
    const left = this.wanted > ROWS_MOST ? ` of ${number(this.wanted)}` : "";
    const curves = this.channels.length;
    const cut = curves < this.width - 1 ? `, ${curves} curves of ${this.width - 1}` : "";
    const rest = left + cut === "" ? "" : ": downloaded files have all";
    this.note.textContent = rows + left + cut + rest;
  }
}

/**
 * Download a file.
 * @param {Blob} content
 * @param {string} name
 */
export function save(content, name) {
  const url = URL.createObjectURL(content);
  make("a", { href: url, download: name }).click();
  // the browser has taken it by then
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
