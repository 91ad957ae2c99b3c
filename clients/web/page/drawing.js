/**
 * A simple picture of the bodies: those that move on one line are drawn on it, points to the plane
 * in which they spread most, rigid bodies in their plane or aslant in space, all in scale. Contacts
 * are points with arrows along their forces.
 */
import { inks, surface } from "./dom.js";
import { tick, ticks } from "./format.js";
import { AXES, dot, foot, hull, planes, plate, shapes } from "./solids.js";

/** @typedef {import("./types.js").Body} Body */
/** @typedef {import("./types.js").Contact} Contact */
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

const LABELS_MOST = 12;

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
    /** @type {Contact[]} */
    this.contacts = [];
    /** N, the greatest force of a contact so far */
    this.strongest = 0;
    this.surface = surface(canvas, (context, width, height) => this.draw(context, width, height));
  }

  end() {
    this.surface.end();
  }

  /**
   * @param {Body[]} bodies
   * @param {Contact[]} contacts
   */
  show(bodies, contacts = []) {
    this.contacts = contacts;
    this.strongest = Math.max(this.strongest, ...contacts.map((c) => Math.hypot(...c.force)));
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
        points.forEach((p) => this.widen(p, reach));
      }
    }
    // a plane is drawn below the bodies over it
    const middle = this.room.map(([low, high]) => 0.5 * (low + high));
    for (const plane of middle.length > 0 ? this.bodies.flatMap(planes) : []) {
      this.widen(foot(plane, middle), 0);
    }
    this.surface.request();
  }

  /**
   * @param {number[]} p a point that the picture must contain
   * @param {number} reach
   */
  widen(p, reach) {
    this.room = AXES.map((_, a) => [
      Math.min(this.room[a]?.[0] ?? p[a] - reach, p[a] - reach),
      Math.max(this.room[a]?.[1] ?? p[a] + reach, p[a] + reach),
    ]);
  }

  /** The two axes of the picture: the widest spread goes across. */
  axes() {
    const size = this.extent.map((e) => e[1] - e[0]);
    const order = [0, 1, 2].sort((a, b) => size[b] - size[a]);
    const flat = size[order[1]] < 1e-9 * Math.max(1, size[order[0]]);
    if (flat) {
      return { across: order[0], up: -1 };
    }
    // z and y point up by convention
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
    const moving = this.bodies.filter((b) => !b.fixed);
    // a body that is a line has its extent from the start
    const rigid = moving.filter((b) => b.line || b.type.startsWith("RigidBody"));
    const flat = moving.every((b) => b.type.endsWith("2D"));
    const walled = this.bodies.some((b) => planes(b).length > 0);
    const { across, up } = this.axes();
    if ((rigid.length > 0 || walled) && !flat) {
      this.drawShapes(c, ink, { width, height, view: aslant(), across: 0 });
    } else if (rigid.length > 0 || walled) {
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
    const seen = (/** @type {number[]} */ p) => [x(dot(p, view.right)), y(dot(p, view.up))];
    this.drawPlanes(c, ink, { view, room, seen });
    const depth = (/** @type {number[][]} */ points) =>
      points.reduce((sum, p) => sum + dot(p, view.near), 0) / points.length;
    // what is fixed lies behind what moves on it
    const all = this.bodies
      .flatMap(shapes)
      .map((solid) => ({ ...solid, depth: depth(solid.points) }))
      .sort((a, b) => Number(b.fixed) - Number(a.fixed) || a.depth - b.depth);
    for (const solid of all) {
      this.drawSolid(c, ink, { solid, view, seen, scale, depth });
    }
    this.drawContacts(c, ink, { seen, length: Math.min(width, level) / 6 / scale });
    /** @type {number[][]} */
    const labels = [];
    const named = this.bodies.filter((b) => !b.fixed && (b.line || b.graphics.length > 0));
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
   * Planes as far as they lie near what is drawn; those that are seen from behind by their edge.
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {{view: View, room: [number, number][], seen: (p: number[]) => number[]}} frame
   */
  drawPlanes(c, ink, { view, room, seen }) {
    const wide = 0.1 * Math.max(...room.map(([low, high]) => high - low));
    const box = room.map(([low, high]) => /** @type {[number, number]} */ ([low - wide, high + wide]));
    const all = this.bodies.flatMap(planes);
    for (const plane of all) {
      const others = all.filter((other) => other !== plane);
      c.fillStyle = ink("ground");
      c.strokeStyle = ink("axis");
      c.lineWidth = 1;
      this.path(c, plate(plane, box, others).map(seen));
      c.closePath();
      if (dot(plane.normal, view.near) > 0) {
        c.fill();
      }
      c.stroke();
    }
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {number[][]} points in the picture
   */
  path(c, points) {
    c.beginPath();
    points.forEach((p, k) => (k === 0 ? c.moveTo(p[0], p[1]) : c.lineTo(p[0], p[1])));
  }

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {{solid: import("./solids.js").Solid, view: View, seen: (p: number[]) => number[],
   *   scale: number, depth: (points: number[][]) => number}} what
   */
  drawSolid(c, ink, { solid, view, seen, scale, depth }) {
    const { points, color, line, reach } = solid;
    c.fillStyle = this.fill(color, ink);
    c.strokeStyle = line ? c.fillStyle : ink("body-edge");
    c.lineWidth = line ? 3 : 1;
    if (reach > 0) {
      const at = seen(points[0]);
      c.beginPath();
      c.arc(at[0], at[1], Math.max(3, reach * scale), 0, 2 * Math.PI);
      c.fill();
      c.stroke();
      this.drawMark(c, solid, { view, seen });
    } else if (solid.sides.length > 0) {
      const visible = solid.sides.filter((side) => dot(side.normal, view.near) > 1e-9);
      for (const side of visible.sort((a, b) => depth(a.points) - depth(b.points))) {
        this.path(c, side.points.map(seen));
        c.closePath();
        c.fill();
        c.stroke();
      }
    } else {
      this.path(c, line ? points.map(seen) : hull(points.map(seen)));
      if (!line) {
        c.closePath();
        c.fill();
      }
      c.stroke();
    }
  }

  /**
   * The part of a sphere's mark that is in front.
   * @param {CanvasRenderingContext2D} c
   * @param {import("./solids.js").Solid} solid
   * @param {{view: View, seen: (p: number[]) => number[]}} how
   */
  drawMark(c, solid, { view, seen }) {
    const middle = dot(solid.points[0], view.near);
    let drawing = false;
    c.beginPath();
    for (const p of solid.mark) {
      const at = seen(p);
      const front = dot(p, view.near) >= middle;
      if (front && drawing) {
        c.lineTo(at[0], at[1]);
      } else if (front) {
        c.moveTo(at[0], at[1]);
      }
      drawing = front;
    }
    c.stroke();
  }

  /**
   * Points of contact, and their forces on the second body: the greatest so far is a sixth of the
   * picture long.
   * @param {CanvasRenderingContext2D} c
   * @param {(name: string) => string} ink
   * @param {{seen: (p: number[]) => number[], length: number}} frame of the longest, m
   */
  drawContacts(c, ink, { seen, length }) {
    c.strokeStyle = c.fillStyle = ink("contact");
    c.lineWidth = 1.5;
    for (const { point, force } of this.contacts) {
      const from = seen(point);
      c.beginPath();
      c.arc(from[0], from[1], 2, 0, 2 * Math.PI);
      c.fill();
      if (this.strongest > 0) {
        const tip = point.map((x, i) => x + (length * force[i]) / this.strongest);
        this.path(c, [from, seen(tip)]);
        c.stroke();
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
    c.save();
    c.textAlign = "center";
    c.textBaseline = "bottom";
    // a rim of the page's colour: names lie on bodies of any colour
    c.strokeStyle = ink("panel");
    c.lineWidth = 3;
    c.lineJoin = "round";
    c.strokeText(body.name, x, y - 4);
    c.fillStyle = ink("text");
    c.fillText(body.name, x, y - 4);
    c.restore();
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
