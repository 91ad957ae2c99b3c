/**
 * A picture of systems that have coordinates but no place in space. A few distinct values are beads
 * on an upright axis, one column a system; many, or values that fall together, are drawn over their
 * index.
 */
import { inks, surface } from "./dom.js";
import { number, tick, ticks } from "./format.js";

/** @typedef {import("./types.js").System} System */
/** @typedef {(name: string) => string} Ink */
/**
 * @typedef {object} Frame area of the values
 * @property {number} left in CSS pixels
 * @property {number} right
 * @property {number} top
 * @property {number} bottom
 * @property {number} low value at the bottom
 * @property {number} high value at the top
 * @property {(v: number) => number} y value to pixels
 */

const LEFT = 74,
  RIGHT = 14,
  TOP = 12,
  BOTTOM = 30;
const BEADS_MOST = 24,
  COLUMNS_MOST = 12;

/** Are the values distinct? Neighbours differ by more than rounding. @param {number[]} values */
function distinct(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const size = Math.max(Math.abs(sorted[0]), Math.abs(sorted[sorted.length - 1]));
  return sorted.every((v, k) => k === 0 || v - sorted[k - 1] > 1e-9 * size);
}

/** The least distance of two values. @param {number[]} values */
function closest(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.min(Infinity, ...sorted.slice(1).map((v, k) => v - sorted[k]));
}

export class Systems {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {System[]} */
    this.systems = [];
    /** which systems the picture was laid out for */
    this.layout = "";
    this.beads = false;
    /** distance of neighbours in the first picture */
    this.apart = Infinity;
    this.time = -Infinity;
    this.low = Infinity;
    this.high = -Infinity;
    this.surface = surface(canvas, (context, width, height) => this.draw(context, width, height));
  }

  end() {
    this.surface.end();
  }

  /** @param {System[]} systems @param {number} time */
  show(systems, time) {
    this.systems = systems.filter((s) => s.coordinates.length > 0);
    const layout = this.systems.map((s) => `${s.name} ${s.coordinates.length}`).join("\n");
    // another model, or back in time: ranges start again
    if (layout !== this.layout || time < this.time) {
      this.low = Infinity;
      this.high = -Infinity;
    }
    if (layout !== this.layout) {
      this.layout = layout;
      this.beads =
        this.systems.length <= COLUMNS_MOST &&
        this.systems.every((s) => s.coordinates.length <= BEADS_MOST && distinct(s.coordinates));
      this.apart = this.beads
        ? Math.min(...this.systems.map((s) => closest(s.coordinates)))
        : Infinity;
    }
    this.time = time;
    for (const { coordinates } of this.systems) {
      for (const v of coordinates) {
        this.low = v < this.low ? v : this.low;
        this.high = v > this.high ? v : this.high;
      }
    }
    this.surface.request();
  }

  /**
   * The frame: its range ends at ticks or half-way, so that it stays when the values grow a little.
   * @param {number} width
   * @param {number} height
   * @returns {Frame & {at: number[], step: number}}
   */
  frame(width, height) {
    let { low, high } = this;
    // zero belongs to deflections, and to positions that are not far from it
    const near = Math.min(Math.abs(low), Math.abs(high)) < 2 * (high - low);
    if (!this.beads || near || low === high) {
      low = Math.min(low, 0);
      high = Math.max(high, 0);
    }
    if (!(high > low)) {
      low = -1;
      high = 1;
    }
    const top = TOP + (this.beads ? 8 : 0);
    const bottom = height - (this.beads ? TOP + 18 : BOTTOM);
    const wanted = Math.max(2, (bottom - top) / 34);
    const { step } = ticks(low, high, wanted);
    low = (step / 2) * Math.floor((2 * low) / step + 1e-9);
    high = (step / 2) * Math.ceil((2 * high) / step - 1e-9);
    return {
      left: LEFT,
      right: width - RIGHT,
      top,
      bottom,
      low,
      high,
      at: ticks(low, high, (high - low) / step).at,
      step,
      y: (v) => bottom - ((v - low) / (high - low)) * (bottom - top),
    };
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {number} width
   * @param {number} height
   */
  draw(c, width, height) {
    if (this.systems.length === 0) {
      return;
    }
    const ink = inks();
    c.font = `11.5px ${ink("font")}`;
    c.lineJoin = "round";
    const frame = this.frame(width, height);
    this.drawLevels(c, ink, frame);
    if (this.beads) {
      const wide = (frame.right - frame.left) / this.systems.length;
      this.systems.forEach((system, k) => {
        this.drawColumn(c, ink, frame, system, { x: frame.left + (k + 0.5) * wide, wide });
      });
    } else {
      this.drawChart(c, ink, frame);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {Ink} ink
   * @param {Frame & {at: number[], step: number}} frame
   */
  drawLevels(c, ink, { left, right, top, bottom, y, at, step }) {
    c.fillStyle = ink("quiet");
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const v of at) {
      const place = Math.round(y(v)) + 0.5;
      c.strokeStyle = ink(Math.abs(v) < 1e-6 * step ? "axis" : "grid");
      c.beginPath();
      c.moveTo(left, place);
      c.lineTo(right, place);
      c.stroke();
      c.fillText(tick(v, step), left - 8, place);
    }
    // its name, upright beside its axis
    c.save();
    c.translate(8, (top + bottom) / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText("coordinate", 0, 0);
    c.restore();
  }

  /**
   * The coordinates of one system as beads above each other.
   * @param {CanvasRenderingContext2D} c
   * @param {Ink} ink
   * @param {Frame} frame
   * @param {System} system
   * @param {{x: number, wide: number}} place middle and width of the column
   */
  drawColumn(c, ink, { y, top, bottom, low, high }, { name, coordinates }, { x, wide }) {
    // the line that the beads move along
    c.strokeStyle = ink("axis");
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(Math.round(x) + 0.5, top);
    c.lineTo(Math.round(x) + 0.5, bottom);
    c.stroke();
    c.textAlign = "center";
    c.textBaseline = "top";
    c.fillStyle = ink("quiet");
    c.fillText(name, x, bottom + 9);
    // beads leave a fifth of their first distance free
    const scale = (bottom - top) / (high - low);
    const radius = Math.max(3, Math.min(10, 0.4 * this.apart * scale));
    const order = coordinates.map((_, k) => k).sort((a, b) => coordinates[b] - coordinates[a]);
    let free = -Infinity;
    for (const k of order) {
      const at = y(coordinates[k]);
      c.fillStyle = ink("body");
      c.strokeStyle = ink("body-edge");
      c.beginPath();
      c.arc(x, at, radius, 0, 2 * Math.PI);
      c.fill();
      c.stroke();
      // names and values where they do not cover each other
      if (wide > 150 && at >= free) {
        free = at + 11;
        c.fillStyle = ink("quiet");
        c.textBaseline = "middle";
        c.textAlign = "right";
        c.fillText(coordinates.length > 1 ? `${name}[${k}]` : "", x - radius - 8, at);
        c.textAlign = "left";
        c.fillText(number(coordinates[k], 4), x + radius + 8, at);
      }
    }
  }

  /**
   * All coordinates over their index, one system after the other.
   * @param {CanvasRenderingContext2D} c
   * @param {Ink} ink
   * @param {Frame} frame
   */
  drawChart(c, ink, { left, right, bottom, top, y }) {
    const count = this.systems.reduce((sum, s) => sum + s.coordinates.length, 0);
    const apart = (right - left) / count;
    const zero = y(0);
    let first = 0;
    for (const { name, coordinates } of this.systems) {
      const from = left + first * apart;
      const x = (/** @type {number} */ k) => from + (k + 0.5) * apart;
      this.drawIndices(c, ink, { from, apart, n: coordinates.length, bottom });
      if (this.systems.length > 1) {
        this.drawBorder(c, ink, { name, from, wide: apart * coordinates.length, top, bottom });
      }
      // the area between the values and zero, with its edge
      c.beginPath();
      coordinates.forEach((v, k) => c.lineTo(x(k), y(v)));
      c.strokeStyle = ink("curve-0");
      c.lineWidth = 1.6;
      c.stroke();
      c.lineTo(x(coordinates.length - 1), zero);
      c.lineTo(x(0), zero);
      c.fillStyle = ink("curve-0");
      c.globalAlpha = 0.14;
      c.fill();
      c.globalAlpha = 1;
      if (apart >= 5) {
        coordinates.forEach((v, k) => {
          c.beginPath();
          c.arc(x(k), y(v), Math.min(4, 0.28 * apart), 0, 2 * Math.PI);
          c.fill();
        });
      }
      first += coordinates.length;
    }
    c.fillStyle = ink("quiet");
    c.textAlign = "right";
    c.textBaseline = "top";
    c.fillText("index", right, bottom + 8);
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {Ink} ink
   * @param {{from: number, apart: number, n: number, bottom: number}} place
   */
  drawIndices(c, ink, { from, apart, n, bottom }) {
    const { at } = ticks(0, Math.max(1, n - 1), Math.max(1, (n * apart) / 90));
    c.fillStyle = ink("quiet");
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const k of at.filter((v) => Number.isInteger(v) && v < n)) {
      const place = from + (k + 0.5) * apart;
      // the last label is left out for the axis' name
      if (place < c.canvas.clientWidth - RIGHT - 44) {
        c.fillText(String(k), place, bottom + 8);
      }
    }
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {Ink} ink
   * @param {{name: string, from: number, wide: number, top: number, bottom: number}} place
   */
  drawBorder(c, ink, { name, from, wide, top, bottom }) {
    c.strokeStyle = ink("grid");
    c.beginPath();
    c.moveTo(Math.round(from) + 0.5, top);
    c.lineTo(Math.round(from) + 0.5, bottom);
    c.stroke();
    if (c.measureText(name).width + 8 < wide) {
      c.fillStyle = ink("quiet");
      c.textAlign = "left";
      c.textBaseline = "top";
      c.fillText(name, from + 5, top + 2);
    }
  }
}
