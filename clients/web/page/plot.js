/**
 * The live plot: one pane per unit, a common time axis, a cursor that reads all curves.
 * Curves keep their least and greatest value in every pixel column, so that no peak is lost, and
 * are broken where samples have a gap.
 */
import { inks, surface } from "./dom.js";
import { clock, number, tick, ticks } from "./format.js";

/** @typedef {import("./types.js").Channel} Channel */
/**
 * @typedef {object} Pane
 * @property {string} unit
 * @property {number[]} channels those that are drawn in it
 * @property {number} top in the picture
 * @property {number} height
 * @property {number} low of the axis
 * @property {number} high
 */

const LEFT = 64,
  RIGHT = 14,
  TOP = 10,
  BOTTOM = 30,
  GAP = 16,
  SPACE = 8; // between labels

export class Plot {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./series.js").Series} series
   * @param {Channel[]} channels in the order of the series' values
   */
  constructor(canvas, series, channels) {
    this.canvas = canvas;
    this.series = series;
    this.channels = channels;
    /** seconds shown; Infinity: everything */
    this.window = 10;
    /** @type {number | null} time under the cursor */
    this.cursor = null;
    /** @type {Map<string, {low: number, high: number}>} ranges shown last, by unit */
    this.ranges = new Map();
    this.low = 0;
    this.high = 1;
    this.surface = surface(canvas, (context, width, height) => this.draw(context, width, height));
    canvas.addEventListener("pointermove", (event) => this.point(event.offsetX));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("blur", () => this.point(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  request() {
    this.surface.request();
  }

  end() {
    this.surface.end();
  }

  /** @param {number | null} x in CSS pixels */
  point(x) {
    const width = this.canvas.clientWidth - LEFT - RIGHT;
    this.cursor = x === null ? null : this.low + ((x - LEFT) / width) * (this.high - this.low);
    this.request();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") {
      this.cursor = null;
    } else if (way && this.series.count > 0) {
      // from sample to sample, faster with shift
      const now = this.cursor === null ? this.series.count - 1 : this.series.near(this.cursor);
      const next = now + way * (event.shiftKey ? 20 : 1);
      this.cursor = this.series.time(Math.min(this.series.count - 1, Math.max(0, next)));
      event.preventDefault();
    } else {
      return;
    }
    this.request();
  }

  /** The span of time that is shown. */
  span() {
    const last = this.series.count > 0 ? this.series.last : 0;
    const first = this.series.count > 0 ? this.series.time(0) : 0;
    this.low = Number.isFinite(this.window) ? Math.max(first, last - this.window) : first;
    // with little data the axis ends at the next round span
    const room = last > first ? ticks(0, last - first, 1).step : 1;
    this.high = Math.max(last, this.low + Math.min(this.window, room));
  }

  /**
   * @param {number} height
   * @returns {Pane[]}
   */
  panes(height) {
    /** @type {Map<string, number[]>} */
    const units = new Map();
    this.channels.forEach((channel, k) => {
      if (channel.on) {
        units.set(channel.unit, [...(units.get(channel.unit) ?? []), k]);
      }
    });
    const room = height - TOP - BOTTOM - GAP * Math.max(0, units.size - 1);
    const each = room / Math.max(1, units.size);
    return [...units].map(([unit, channels], i) => ({
      unit,
      channels,
      top: TOP + i * (each + GAP),
      height: each,
      ...this.range(unit, channels),
    }));
  }

  /**
   * A range that grows at once and shrinks only when much of it is unused: a calm axis.
   * @param {string} unit
   * @param {number[]} channels
   */
  range(unit, channels) {
    let least = Infinity,
      most = -Infinity;
    const { series } = this;
    for (let i = series.from(this.low); i < series.count; i++) {
      for (const k of channels) {
        const y = series.value(i, k);
        least = y < least ? y : least;
        most = y > most ? y : most;
      }
    }
    if (least > most) {
      return this.ranges.get(unit) ?? { low: -1, high: 1 };
    }
    const size = most - least;
    const half = size > Math.abs(most) * 1e-9 + 1e-12 ? size * 0.08 : Math.abs(most) * 0.1 || 1;
    const wanted = { low: least - half, high: most + half };
    const old = this.ranges.get(unit);
    const fits = old && old.low <= least && old.high >= most;
    const calm = fits && old.high - old.low < 1.7 * (wanted.high - wanted.low);
    const range = calm ? old : wanted;
    this.ranges.set(unit, range);
    return range;
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {number} width
   * @param {number} height
   */
  draw(c, width, height) {
    this.span();
    const ink = inks();
    const panes = this.panes(height);
    const x = (/** @type {number} */ t) =>
      LEFT + ((t - this.low) / (this.high - this.low)) * (width - LEFT - RIGHT);
    c.font = `11.5px ${ink("font")}`;
    c.lineJoin = "round";
    this.drawTimes(c, ink, x, width, height, panes);
    for (const pane of panes) {
      const y = (/** @type {number} */ v) =>
        pane.top + pane.height - ((v - pane.low) / (pane.high - pane.low)) * pane.height;
      this.drawLevels(c, ink, pane, y, width);
      c.save();
      c.beginPath();
      c.rect(LEFT - 3, pane.top - 3, width - LEFT - RIGHT + 6, pane.height + 6);
      c.clip();
      for (const k of pane.channels) {
        this.drawCurve(c, ink(`curve-${this.channels[k].color}`), k, x, y, width);
      }
      c.restore();
    }
    if (this.cursor !== null) {
      this.drawCursor(c, ink, x, panes, width, height);
    }
    if (this.series.count === 0 || panes.length === 0) {
      c.fillStyle = ink("quiet");
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillText(
        panes.length === 0 ? "no curve is selected" : "no samples yet",
        width / 2,
        height / 2,
      );
    }
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {(t: number) => number} x
   * @param {number} width
   * @param {number} height
   * @param {Pane[]} panes
   */
  drawTimes(c, ink, x, width, height, panes) {
    const { at, step } = ticks(this.low, this.high, Math.max(2, (width - LEFT - RIGHT) / 90));
    c.strokeStyle = ink("grid");
    c.fillStyle = ink("quiet");
    c.lineWidth = 1;
    c.textAlign = "center";
    c.textBaseline = "top";
    const name = "time / s";
    // labels that overlap the axis' name or an earlier label are left out
    const end = width - RIGHT - c.measureText(name).width - SPACE;
    let free = -Infinity;
    c.beginPath();
    for (const t of at) {
      const place = Math.round(x(t)) + 0.5;
      for (const pane of panes) {
        c.moveTo(place, pane.top);
        c.lineTo(place, pane.top + pane.height);
      }
      const text = tick(t, step);
      const half = c.measureText(text).width / 2;
      if (place - half > free && place + half < end) {
        c.fillText(text, place, height - BOTTOM + 8);
        free = place + half + SPACE;
      }
    }
    c.stroke();
    c.textAlign = "right";
    c.fillText(name, width - RIGHT, height - BOTTOM + 8);
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Pane} pane
   * @param {(v: number) => number} y
   * @param {number} width
   */
  drawLevels(c, ink, pane, y, width) {
    const { at, step } = ticks(pane.low, pane.high, Math.max(2, pane.height / 38));
    c.strokeStyle = ink("grid");
    c.fillStyle = ink("quiet");
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.beginPath();
    for (const v of at) {
      const place = Math.round(y(v)) + 0.5;
      c.moveTo(LEFT, place);
      c.lineTo(width - RIGHT, place);
      c.fillText(tick(v, step), LEFT - 8, place);
    }
    c.stroke();
    c.strokeStyle = ink("axis");
    c.strokeRect(
      LEFT + 0.5,
      Math.round(pane.top) + 0.5,
      width - LEFT - RIGHT - 1,
      Math.round(pane.height),
    );
    // the unit, upright beside its axis
    c.save();
    c.translate(12, pane.top + pane.height / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText(pane.unit, 0, 0);
    c.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {string} color
   * @param {number} k
   * @param {(t: number) => number} x
   * @param {(v: number) => number} y
   * @param {number} width
   */
  drawCurve(c, color, k, x, y, width) {
    const { series } = this;
    const first = Math.max(0, series.from(this.low) - 1);
    const dense = series.count - first > 2 * (width - LEFT - RIGHT);
    c.strokeStyle = color;
    c.fillStyle = color;
    c.lineWidth = 1.6;
    c.beginPath();
    let column = NaN,
      least = 0,
      most = 0,
      end = 0;
    for (let i = first; i < series.count; i++) {
      const px = x(series.time(i)),
        py = y(series.value(i, k));
      const broken = i > first && series.gap(i);
      if (!dense) {
        c[broken ? "moveTo" : "lineTo"](px, py);
        continue;
      }
      if (broken || Math.round(px) !== column) {
        if (!Number.isNaN(column)) {
          c.lineTo(column, least);
          c.lineTo(column, most);
          c.lineTo(column, end);
        }
        if (broken) {
          c.moveTo(px, py);
        }
        column = Math.round(px);
        least = most = py;
      }
      least = Math.min(least, py);
      most = Math.max(most, py);
      end = py;
    }
    if (dense) {
      c.lineTo(column, end);
    }
    c.stroke();
    this.drawDots(c, k, x, y, (width - LEFT - RIGHT) / Math.max(1, series.count - first) > 12);
  }

  /**
   * The newest sample, those at gaps, and all isolated ones: values between them are unknown.
   * @param {CanvasRenderingContext2D} c
   * @param {number} k
   * @param {(t: number) => number} x
   * @param {(v: number) => number} y
   * @param {boolean} apart
   */
  drawDots(c, k, x, y, apart) {
    const { series } = this;
    for (let i = Math.max(0, series.from(this.low) - 1); i < series.count; i++) {
      const last = i === series.count - 1;
      // at the ends of a gap too
      if (apart || last || series.gap(i) || series.gap(i + 1)) {
        c.beginPath();
        c.arc(x(series.time(i)), y(series.value(i, k)), last ? 2.8 : 2, 0, 2 * Math.PI);
        c.fill();
      }
    }
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {(t: number) => number} x
   * @param {Pane[]} panes
   * @param {number} width
   * @param {number} height
   */
  drawCursor(c, ink, x, panes, width, height) {
    const i = this.series.near(this.cursor ?? 0);
    if (i < 0 || panes.length === 0) {
      return;
    }
    const t = this.series.time(i);
    const place = x(t);
    c.strokeStyle = ink("text");
    c.globalAlpha = 0.45;
    c.beginPath();
    c.moveTo(place, TOP);
    c.lineTo(place, height - BOTTOM);
    c.stroke();
    c.globalAlpha = 1;
    const rows = [{ text: clock(t), color: ink("text") }];
    for (const pane of panes) {
      for (const k of pane.channels) {
        const v = this.series.value(i, k);
        const color = ink(`curve-${this.channels[k].color}`);
        c.fillStyle = color;
        c.beginPath();
        c.arc(
          place,
          pane.top + pane.height - ((v - pane.low) / (pane.high - pane.low)) * pane.height,
          3.2,
          0,
          2 * Math.PI,
        );
        c.fill();
        rows.push({ text: `${this.channels[k].label}  ${number(v)} ${pane.unit}`.trim(), color });
      }
    }
    // the read-out is on the side with free space
    const wide = Math.max(...rows.map((row) => c.measureText(row.text).width)) + 20;
    const tall = rows.length * 17 + 10;
    const left = place + 14 + wide < width - RIGHT ? place + 14 : place - 14 - wide;
    c.fillStyle = ink("panel");
    c.strokeStyle = ink("axis");
    c.beginPath();
    c.roundRect(left, TOP + 8, wide, tall, 5);
    c.fill();
    c.stroke();
    c.textAlign = "left";
    c.textBaseline = "middle";
    rows.forEach((row, n) => {
      c.fillStyle = row.color;
      c.fillText(row.text, left + 10, TOP + 8 + 13.5 + 17 * n);
    });
  }
}
