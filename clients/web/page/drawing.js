/**
 * A simple picture of the bodies: those that move on one line are drawn on it, points to the plane
 * in which they spread most, rigid bodies in their plane or aslant in space, all in scale.
 */
import { inks, surface } from "./dom.js";
import { tick, ticks } from "./format.js";

/** @typedef {import("./types.js").Body} Body */
/** @typedef {import("./types.js").Graphic} Graphic */
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
/** Corners that a circle is drawn with. */
const ROUND = 20;

/**
 * Size of a body along two axes, m, from its first shape.
 * @param {Body} body
 * @param {number} across
 */
function size(body, across) {
  const graphic = body.graphics[0];
  if (!graphic) {
    return 0;
  }
  return graphic.shape === "Sphere" ? 2 * graphic.radius : graphic.size[across];
}

/**
 * A point of a body's frame in space.
 * @param {Body} body
 * @param {number[]} local
 */
function placed(body, local) {
  const r = body.rotation?.length === 9 ? body.rotation : [1, 0, 0, 0, 1, 0, 0, 0, 1];
  return AXES.map(
    (_, i) =>
      body.position[i] + r[3 * i] * local[0] + r[3 * i + 1] * local[1] + r[3 * i + 2] * local[2],
  );
}

/**
 * Points whose hull is a shape, in the body's frame; a sphere has its centre only.
 * @param {Graphic} g
 * @returns {number[][]}
 */
function outline(g) {
  const centre = g.center ?? [0, 0, 0];
  if (g.shape === "Sphere") {
    return [centre];
  }
  const end = centre.map((x, i) => x + g.size[i]);
  if (g.shape === "Line") {
    return [centre, end];
  }
  if (g.shape === "Cylinder") {
    const length = Math.hypot(...g.size) || 1;
    const axis = g.size.map((x) => x / length);
    // two directions across the axis
    const least = axis.map(Math.abs).indexOf(Math.min(...axis.map(Math.abs)));
    const other = [0, 0, 0];
    other[least] = 1;
    const u = cross(axis, other);
    const long = Math.hypot(...u) || 1;
    const first = u.map((x) => x / long);
    const second = cross(axis, first);
    return [centre, end].flatMap((p) =>
      Array.from({ length: ROUND }, (_, k) => {
        const angle = (2 * Math.PI * k) / ROUND;
        return p.map(
          (x, i) => x + g.radius * (Math.cos(angle) * first[i] + Math.sin(angle) * second[i]),
        );
      }),
    );
  }
  return Array.from({ length: 8 }, (_, k) =>
    centre.map((x, i) => x + ((k >> i) & 1 ? 0.5 : -0.5) * g.size[i]),
  );
}

/**
 * What a body is drawn with, in space: points whose hull it is, or that it goes through; a sphere has
 * its centre and its radius as reach.
 * @param {Body} body
 */
function shapes(body) {
  const all = body.graphics.map((g) => ({
    points: outline(g).map((q) => placed(body, q)),
    color: g.color ?? body.color ?? [],
    line: g.shape === "Line",
    reach: g.shape === "Sphere" ? g.radius : 0,
  }));
  const line = { points: body.line ?? [], color: body.color ?? [], line: true, reach: 0 };
  return body.line ? [...all, line] : all;
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/**
 * Convex hull of points in the plane (Andrew's monotone chain).
 * @param {number[][]} points
 */
function hull(points) {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  const half = (/** @type {number[][]} */ list) => {
    /** @type {number[][]} */
    const chain = [];
    for (const p of list) {
      for (;;) {
        const [o, q] = chain.slice(-2);
        if (!q || (q[0] - o[0]) * (p[1] - o[1]) - (q[1] - o[1]) * (p[0] - o[0]) > 0) {
          break;
        }
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/**
 * How space is seen: what goes right, what goes up, and what comes towards the eye.
 * @typedef {object} View
 * @property {number[]} right
 * @property {number[]} up
 * @property {number[]} near
 * @property {boolean} plane
 */

/**
 * From the side, a little above: z points up.
 * @returns {View}
 */
function aslant() {
  const [turn, lift] = [-0.45, 0.3];
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  const [d, e] = [Math.cos(lift), Math.sin(lift)];
  return { right: [c, s, 0], up: [-s * e, c * e, d], near: [s * d, -c * d, e], plane: false };
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export class Drawing {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {Body[]} */
    this.bodies = [];
    /** @type {[number, number][]} least and greatest position so far, by axis */
    this.extent = [];
    /** @type {[number, number][]} the same of everything that is drawn */
    this.room = [];
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
      for (const { points, reach } of shapes(body)) {
        for (const p of points) {
          this.room = AXES.map((_, a) => [
            Math.min(this.room[a]?.[0] ?? p[a], p[a] - reach),
            Math.max(this.room[a]?.[1] ?? p[a], p[a] + reach),
          ]);
        }
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
    // a body that is a line has its extent from the start
    const rigid = this.bodies.filter((b) => b.line || b.type.startsWith("RigidBody"));
    const { across, up } = this.axes();
    if (rigid.length > 0 && !rigid.every((b) => b.type.endsWith("2D"))) {
      this.drawShapes(c, ink, { width, height, view: aslant(), across: 0 });
    } else if (rigid.length > 0) {
      this.drawShapes(c, ink, { width, height, view: this.plane(0, 1), across: 0 });
    } else if (up >= 0) {
      this.drawShapes(c, ink, { width, height, view: this.plane(across, up), across });
    } else {
      this.drawOnLine(c, ink, { width, height, across });
    }
  }

  /**
   * @param {number} across
   * @param {number} up
   * @returns {View}
   */
  plane(across, up) {
    const unit = (/** @type {number} */ k) => AXES.map((_, i) => (i === k ? 1 : 0));
    return { right: unit(across), up: unit(up), near: unit(3 - across - up), plane: true };
  }

  /**
   * Every shape of every body in scale, the far ones first.
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {{width: number, height: number, view: View, across: number}} frame
   */
  drawShapes(c, ink, { width, height, view, across }) {
    this.canvas.classList.add("tall");
    const level = view.plane ? height - 36 : height - 12;
    const room = this.room.length > 0 ? this.room : this.extent;
    const corners = Array.from({ length: 8 }, (_, k) => room.map((e, a) => e[(k >> a) & 1]));
    const spread = (/** @type {number[]} */ way) => {
      const along = corners.map((p) => dot(p, way));
      return [Math.min(...along), Math.max(...along)];
    };
    const [left, right] = spread(view.right);
    const [low, high] = spread(view.up);
    const scale = Math.min(
      (width - 64) / Math.max(1e-9, right - left),
      (level - 44) / Math.max(1e-9, high - low),
    );
    const middle = (left + right) / 2;
    const x = (/** @type {number} */ v) => width / 2 + (v - middle) * scale;
    const y = (/** @type {number} */ v) => level - 10 - (v - low) * scale;
    if (view.plane) {
      const half = width / 2 / scale;
      this.drawLine(c, ink, { left: middle - half, right: middle + half, level, x, across, width });
    }
    const all = this.bodies.flatMap(shapes).map((shape) => ({
      ...shape,
      depth: shape.points.reduce((sum, p) => sum + dot(p, view.near), 0) / shape.points.length,
      seen: shape.points.map((p) => [x(dot(p, view.right)), y(dot(p, view.up))]),
    }));
    for (const { color, line, reach, seen } of all.sort((a, b) => a.depth - b.depth)) {
      c.fillStyle = this.fill(color, ink);
      c.strokeStyle = line ? c.fillStyle : ink("body-edge");
      c.lineWidth = line ? 3 : 1;
      c.beginPath();
      if (reach > 0) {
        c.arc(seen[0][0], seen[0][1], Math.max(3, reach * scale), 0, 2 * Math.PI);
      } else {
        (line ? seen : hull(seen)).forEach((p, k) =>
          k === 0 ? c.moveTo(p[0], p[1]) : c.lineTo(p[0], p[1]),
        );
      }
      if (!line) {
        c.closePath();
        c.fill();
      }
      c.stroke();
    }
    /** @type {number[][]} */
    const labels = [];
    const named = this.bodies.filter((b) => b.line || b.graphics.length > 0);
    for (const body of named.length <= LABELS_MOST ? named : []) {
      const at = [x(dot(body.position, view.right)), y(dot(body.position, view.up))];
      // one that would lie on another stays away
      if (!labels.some((p) => Math.abs(p[0] - at[0]) < 50 && Math.abs(p[1] - at[1]) < 13)) {
        labels.push(at);
        this.label(c, ink, body, at[0], at[1]);
      }
    }
  }

  /**
   * Bodies that move along one axis stand on it.
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {{width: number, height: number, across: number}} frame
   */
  drawOnLine(c, ink, { width, height, across }) {
    const [low, high] = this.extent[across];
    const half = Math.max(...this.bodies.map((b) => size(b, across) / 2));
    const pad = Math.max((high - low) * 0.1, 1.5 * half, 1e-3);
    const left = low - pad,
      right = high + pad;
    const level = height - 36;
    const scale = (width - 48) / (right - left);
    const x = (/** @type {number} */ v) => 24 + (v - left) * scale;
    this.drawLine(c, ink, { left, right, level, x, across, width });
    const most = Math.min(56, level - 40);
    for (const body of this.bodies) {
      // in scale where that can be seen
      const wide = Math.max(5, Math.min(most, size(body, across) * scale));
      const place = { x: x(body.position[across]), y: level - wide / 2 - 1, wide };
      this.drawBody(c, ink, body, place);
    }
  }

  /**
   * @param {number[]} color
   * @param {(name: string) => string} ink
   */
  fill(color, ink) {
    const grey = color.length < 3 || (color[0] === color[1] && color[1] === color[2]);
    const parts = color.slice(0, 3).map((v) => Math.round(255 * v));
    return grey ? ink("body") : `rgb(${parts.join(" ")})`;
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Body} body
   * @param {number} x
   * @param {number} y
   */
  label(c, ink, body, x, y) {
    c.fillStyle = ink("quiet");
    c.textAlign = "center";
    c.textBaseline = "bottom";
    c.fillText(body.name, x, y - 4);
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
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {Body} body
   * @param {{x: number, y: number, wide: number}} place
   */
  drawBody(c, ink, body, { x, y, wide }) {
    c.fillStyle = this.fill(body.graphics[0]?.color ?? body.color ?? [], ink);
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
      c.roundRect(-wide / 2, -wide / 2, wide, wide, Math.min(3, wide / 4));
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
      this.label(c, ink, body, x, y - wide / 2);
    }
  }
}
