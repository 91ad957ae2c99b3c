/**
 * A simple picture of the bodies: those that move on one line are drawn on it, others are projected to
 * the plane in which they spread most.
 */
import { inks, surface } from "./dom.js";
import { tick, ticks } from "./format.js";

/** @typedef {import("./types.js").Body} Body */

const AXES = ["x", "y", "z"];
const LABELS_MOST = 12;

export class Drawing {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {Body[]} */
    this.bodies = [];
    /** @type {[number, number][]} least and greatest position so far, by axis */
    this.extent = [];
    this.surface = surface(canvas, (context, width, height) => this.draw(context, width, height));
  }

  end() {
    this.surface.end();
  }

  /** @param {Body[]} bodies */
  show(bodies) {
    this.bodies = bodies.filter((b) => b.visualization?.show !== false && b.position?.length === 3);
    if (this.extent.length === 0 && this.bodies.length > 0) {
      this.extent = AXES.map((_, a) => [this.bodies[0].position[a], this.bodies[0].position[a]]);
    }
    for (const body of this.bodies) {
      this.extent.forEach((e, a) => {
        e[0] = Math.min(e[0], body.position[a]);
        e[1] = Math.max(e[1], body.position[a]);
      });
    }
    this.surface.request();
  }

  /** The two axes of the picture: the widest spread goes across. */
  axes() {
    const size = this.extent.map((e) => e[1] - e[0]);
    const order = [0, 1, 2].sort((a, b) => size[b] - size[a]);
    const flat = size[order[1]] < 1e-9 * Math.max(1, size[order[0]]);
    if (flat) {
      return { across: order[0], up: -1 };
    }
    // z and y point up by habit
    const [first, second] = [order[0], order[1]].sort((a, b) => a - b);
    return { across: first, up: second };
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {number} width
   * @param {number} height
   */
  draw(c, width, height) {
    const ink = inks();
    c.font = `11.5px ${ink("font")}`;
    if (this.bodies.length === 0) {
      c.fillStyle = ink("quiet");
      c.textAlign = "center";
      c.fillText("nothing to draw", width / 2, height / 2);
      return;
    }
    const { across, up } = this.axes();
    const [low, high] = this.extent[across];
    const pad = Math.max((high - low) * 0.12, (up < 0 ? 0.02 : 0.1) * Math.max(1e-3, Math.abs(high)), 1e-3);
    const left = low - pad, right = high + pad;
    const level = height - 44;
    const scale = (width - 48) / (right - left);
    const x = (/** @type {number} */ v) => 24 + (v - left) * scale;
    this.drawLine(c, ink, { left, right, level, x, across, width });
    const y = this.vertical(up, level, scale);
    const size = Math.max(5, Math.min(26, ((width - 48) / this.bodies.length) * 0.6));
    for (const body of this.bodies) {
      this.drawBody(c, ink, body, x(body.position[across]), y(body), size);
    }
  }

  /**
   * Heights: on the line, or by the second axis in the same scale where it fits.
   * @param {number} up
   * @param {number} level
   * @param {number} scale
   * @returns {(body: Body) => number}
   */
  vertical(up, level, scale) {
    if (up < 0) {
      return () => level - 20;
    }
    const [low, high] = this.extent[up];
    const fit = Math.min(scale, (level - 40) / Math.max(1e-9, high - low));
    return (body) => level - 20 - (body.position[up] - low) * fit;
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {{left: number, right: number, level: number, x: (v: number) => number, across: number, width: number}} place
   */
  drawLine(c, ink, { left, right, level, x, across, width }) {
    c.strokeStyle = ink("axis");
    c.fillStyle = ink("quiet");
    c.lineWidth = 1;
    c.textAlign = "center";
    c.textBaseline = "top";
    c.beginPath();
    c.moveTo(12, level + 0.5);
    c.lineTo(width - 12, level + 0.5);
    const { at, step } = ticks(left, right, Math.max(2, width / 90));
    for (const v of at) {
      const place = Math.round(x(v)) + 0.5;
      c.moveTo(place, level);
      c.lineTo(place, level + 5);
      if (place < width - 60) {
        c.fillText(tick(v, step), place, level + 9);
      }
    }
    c.stroke();
    c.textAlign = "right";
    c.fillText(`${AXES[across]} / m`, width - 12, level + 9);
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Body} body
   * @param {number} x
   * @param {number} y
   * @param {number} size
   */
  drawBody(c, ink, body, x, y, size) {
    const given = body.visualization?.color;
    c.fillStyle = given && given.length >= 3
      ? `rgb(${given.slice(0, 3).map((v) => Math.round(255 * v)).join(" ")})`
      : ink("body");
    c.strokeStyle = ink("body-edge");
    c.lineWidth = 1;
    // a rotation about z turns the block in the picture
    const r = body.rotation;
    const angle = r && r.length === 9 ? Math.atan2(r[3], r[0]) : 0;
    c.save();
    c.translate(x, y);
    c.rotate(-angle);
    c.beginPath();
    c.roundRect(-size / 2, -size / 2, size, size, Math.min(3, size / 4));
    c.fill();
    c.stroke();
    if (angle !== 0) {
      c.beginPath();
      c.moveTo(0, 0);
      c.lineTo(size / 2, 0);
      c.stroke();
    }
    c.restore();
    if (this.bodies.length <= LABELS_MOST) {
      c.fillStyle = ink("quiet");
      c.textAlign = "center";
      c.textBaseline = "bottom";
      c.fillText(body.name, x, y - size / 2 - 4);
    }
  }
}
