/**
 * A simple picture of the bodies: those that move on one line are drawn on it, others are projected
 * to the plane in which they spread most.
 */
import { inks, surface } from "./dom.js";
import { tick, ticks } from "./format.js";

/** @typedef {import("./types.js").Body} Body */
/**
 * @typedef {object} Scale of the line below the bodies
 * @property {number} left metres at its left end
 * @property {number} right
 * @property {number} level height in the picture
 * @property {(v: number) => number} x metres to pixels
 * @property {number} across axis
 * @property {number} width of the picture
 */

const AXES = ["x", "y", "z"];
const LABELS_MOST = 12;

/**
 * Size of a body along two axes, m, from its first shape.
 * @param {Body} body
 * @param {number} across
 * @param {number} up
 */
function sizes(body, across, up) {
  const graphic = body.graphics[0];
  if (!graphic) {
    return [0, 0];
  }
  const round = graphic.shape === "Sphere" ? 2 * graphic.radius : 0;
  return [round || graphic.size[across], round || graphic.size[up]];
}

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
    this.bodies = bodies.filter((b) => b.position?.length === 3);
    if (this.extent.length === 0 && this.bodies.length > 0) {
      this.extent = AXES.map((_, a) => [this.bodies[0].position[a], this.bodies[0].position[a]]);
    }
    for (const body of this.bodies) {
      for (const point of body.line ?? [body.position]) {
        this.extent.forEach((e, a) => {
          e[0] = Math.min(e[0], point[a]);
          e[1] = Math.max(e[1], point[a]);
        });
      }
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
    const half = Math.max(...this.bodies.map((b) => sizes(b, across, across)[0] / 2));
    const pad = Math.max((high - low) * 0.1, 1.5 * half, 1e-3);
    const left = low - pad,
      right = high + pad;
    const level = height - 36;
    const scale = (width - 48) / (right - left);
    const x = (/** @type {number} */ v) => 24 + (v - left) * scale;
    this.drawLine(c, ink, { left, right, level, x, across, width });
    const most = Math.min(56, level - 40);
    const seen = (/** @type {number} */ size) => Math.max(5, Math.min(most, size * scale));
    for (const body of this.bodies) {
      if (body.line) {
        const points = body.line.map((p) => [
          x(p[across]),
          up < 0 ? level - 6 : this.height(p[up], up, level, scale),
        ]);
        this.drawCable(c, ink, body, points);
        continue;
      }
      // in scale where that can be seen; on one line, the body stands on it
      const [wide, tall] = sizes(body, across, up < 0 ? across : up).map(seen);
      const y = up < 0 ? level - tall / 2 - 1 : this.height(body.position[up], up, level, scale);
      this.drawBody(c, ink, body, { x: x(body.position[across]), y, wide, tall });
    }
  }

  /**
   * The second coordinate in the picture, in the scale of the first where that fits.
   * @param {number} value metres
   * @param {number} up
   * @param {number} level
   * @param {number} scale
   */
  height(value, up, level, scale) {
    const [low, high] = this.extent[up];
    const fit = Math.min(scale, (level - 60) / Math.max(1e-9, high - low));
    return level - 24 - (value - low) * fit;
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Scale} place
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
   * A body that is a line, with its ends marked.
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Body} body
   * @param {number[][]} points
   */
  drawCable(c, ink, body, points) {
    c.strokeStyle = this.color(ink, body);
    c.fillStyle = c.strokeStyle;
    c.lineWidth = 3;
    c.beginPath();
    points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.stroke();
    for (const [x, y] of [points[0], points[points.length - 1]]) {
      c.beginPath();
      c.arc(x, y, 3.5, 0, 2 * Math.PI);
      c.fill();
    }
  }

  /**
   * @param {(name: string) => string} ink
   * @param {Body} body
   */
  color(ink, body) {
    const color = body.graphics[0]?.color ?? body.color ?? [];
    const grey = color.length < 3 || (color[0] === color[1] && color[1] === color[2]);
    return grey
      ? ink("body")
      : `rgb(${color
          .slice(0, 3)
          .map((v) => Math.round(255 * v))
          .join(" ")})`;
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Body} body
   * @param {{x: number, y: number, wide: number, tall: number}} place
   */
  drawBody(c, ink, body, { x, y, wide, tall }) {
    c.fillStyle = this.color(ink, body);
    c.strokeStyle = ink("body-edge");
    c.lineWidth = 1;
    // a rotation about z turns the body in the picture
    const r = body.rotation;
    const angle = r && r.length === 9 ? Math.atan2(r[3], r[0]) : 0;
    c.save();
    c.translate(x, y);
    c.rotate(-angle);
    c.beginPath();
    if (body.graphics[0]?.shape === "Sphere") {
      c.arc(0, 0, wide / 2, 0, 2 * Math.PI);
    } else {
      c.roundRect(-wide / 2, -tall / 2, wide, tall, Math.min(3, wide / 4));
    }
    c.fill();
    c.stroke();
    if (angle !== 0) {
      c.beginPath();
      c.moveTo(0, 0);
      c.lineTo(wide / 2, 0);
      c.stroke();
    }
    c.restore();
    if (this.bodies.length <= LABELS_MOST) {
      c.fillStyle = ink("quiet");
      c.textAlign = "center";
      c.textBaseline = "bottom";
      c.fillText(body.name, x, y - tall / 2 - 4);
    }
  }
}
