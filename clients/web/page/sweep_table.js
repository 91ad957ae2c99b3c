/** The first rows of a sweep's results as a table. */
import * as api from "./api.js";
import { make } from "./dom.js";
import { column } from "./format.js";

/** @typedef {import("./types.js").Sweep} Sweep */

export const ROWS_MOST = 200;
const COLUMNS_MOST = 40;
const PAUSE = 1000; // ms between two requests for more rows

/**
 * The fields of a line of CSV, those with commas in quotes (RFC 4180).
 * @param {string} line
 */
const fields = (line) =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain = ""]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );

export class SweepTable {
  /** @param {string} wid */
  constructor(wid) {
    this.wid = wid;
    this.fetching = false;
    /** number of points of the rows, and number wanted */
    this.shown = -1;
    this.wanted = 0;
    this.looked = -Infinity;
    /** later points do not change the rows on display, which are the first ones */
    this.settled = false;
    this.table = make("table", { "aria-label": `Results of ${wid}` });
    this.note = make("p", { className: "quiet note", role: "status" });
    this.element = make(
      "div",
      { className: "results" },
      make(
        "div",
        {
          className: "sheet",
          tabIndex: 0,
          role: "region",
          "aria-label": `Results of ${wid}, scrolled with the arrow keys`,
        },
        this.table,
      ),
      this.note,
    );
  }

  /** Fetch the rows again when more points are done. @param {Sweep} sweep */
  async follow({ done, state }) {
    this.wanted = done;
    const soon = state === "running" && performance.now() - this.looked < PAUSE;
    if (this.fetching || this.settled || soon) {
      return;
    }
    this.looked = performance.now();
    this.fetching = true;
    try {
      if (this.shown !== this.wanted) {
        // a failure is reported once, and tried again when there are more points
        this.shown = this.wanted;
        // the names, the rows, and one more to detect further rows
        this.show(await api.sweepLines(this.wid, ROWS_MOST + 2));
      }
    } finally {
      this.fetching = false;
    }
  }

  /** @param {string[]} lines of the table as CSV */
  show(lines) {
    const [names = [], ...all] = lines.map((line, n) => (n === 0 ? fields(line) : line.split(",")));
    const rows = all.slice(0, ROWS_MOST).map((row) => row.slice(0, COLUMNS_MOST));
    const texts = names
      .slice(0, COLUMNS_MOST)
      .map((_, k) => column(rows.map((row) => (row[k] === "null" ? NaN : Number(row[k])))));
    const heads = names
      .slice(0, COLUMNS_MOST)
      .map((name) => make("th", { scope: "col" }, name));
    const body = rows.map((_, n) =>
      make(
        "tr",
        {},
        ...texts.map((text, k) =>
          k === 0 ? make("th", { scope: "row" }, text[n]) : make("td", {}, text[n]),
        ),
      ),
    );
    this.table.replaceChildren(
      make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...body),
    );
    const points = rows.map((row) => Number(row[0]));
    const gap = points.some((point, n) => point > (n > 0 ? points[n - 1] + 1 : 0));
    this.settled = all.length > ROWS_MOST && !gap;
    const cut = [
      all.length > ROWS_MOST ? `the first ${ROWS_MOST} rows` : "",
      names.length > COLUMNS_MOST ? `${COLUMNS_MOST} of ${names.length} columns` : "",
    ].filter((text) => text !== "");
    const count = `${rows.length} row${rows.length === 1 ? "" : "s"}`;
    this.note.textContent = cut.length > 0 ? `${cut.join(", ")}: downloaded files have all` : count;
  }
}
