/** Shapes of bodies as points in space: hulls, triangles, and planes cut to what is shown. */

/** @typedef {import("./types.js").Body} Body */
/** @typedef {import("./types.js").Graphic} Graphic */
/**
 * @typedef {object} Solid
 * @property {number[][]} points in space
 * @property {number[]} color red, green, blue from 0 to 1
 * @property {boolean} line points that it goes through; otherwise its hull, or its sides
 * @property {number} reach radius of a sphere about its one point, m
 * @property {boolean} fixed it never moves
 * @property {{points: number[][], normal: number[]}[]} sides polygons seen from outside; none: hull
 * @property {number[][]} mark points of a line on it that shows how it turns
 */

export const AXES = ["x", "y", "z"];
/** Corners that a circle is drawn with. */
const ROUND = 20;

/**
 * @param {number[]} a
 * @param {number[]} b
 */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

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

/** Corners of the sides of a box, in the order of outline, counterclockwise seen from outside. */
const BOX = [
  [0, 2, 3, 1],
  [4, 5, 7, 6],
  [0, 1, 5, 4],
  [2, 6, 7, 3],
  [0, 4, 6, 2],
  [1, 3, 7, 5],
];

/**
 * Sides of a box or of a mesh of triangles.
 * @param {Body} body
 * @param {Graphic} g
 */
function sides(body, g) {
  const points = (g.points ?? outline(g)).map((q) => placed(body, q));
  const faces = g.shape === "Box" ? BOX : (g.triangles ?? []);
  return faces.map((face) => {
    const corners = face.map((k) => points[k]);
    const [u, v] = [1, 2].map((k) => corners[k].map((x, i) => x - corners[0][i]));
    const normal = cross(u, v);
    const length = Math.hypot(...normal) || 1;
    return { points: corners, normal: normal.map((x) => x / length) };
  });
}

/**
 * Half a circle about the first axis of a sphere, which turns with it.
 * @param {Body} body
 * @param {Graphic} g
 */
function mark(body, g) {
  return Array.from({ length: ROUND + 1 }, (_, k) => {
    const angle = (Math.PI * k) / ROUND;
    const way = [0, g.radius * Math.cos(angle), g.radius * Math.sin(angle)];
    return placed(
      body,
      way.map((x, i) => x + (g.center?.[i] ?? 0)),
    );
  });
}

/**
 * The solids of a body, in space: points whose hull it is, or that it goes through; a sphere has
 * its centre and its radius as reach. Planes have no end: see plates.
 * @param {Body} body
 * @returns {Solid[]}
 */
export function shapes(body) {
  const fixed = body.fixed === true;
  const all = body.graphics
    .filter((g) => g.shape !== "Plane")
    .map((g) => ({
      points: g.points ? g.points.map((q) => placed(body, q)) : outline(g).map((q) => placed(body, q)),
      color: g.color ?? body.color ?? [],
      line: g.shape === "Line",
      reach: g.shape === "Sphere" ? g.radius : 0,
      fixed,
      sides: g.shape === "Box" || g.shape === "Mesh" ? sides(body, g) : [],
      mark: g.shape === "Sphere" && !fixed ? mark(body, g) : [],
    }));
  const line = {
    points: body.line ?? [],
    color: body.color ?? [],
    line: true,
    reach: 0,
    fixed,
    sides: [],
    mark: [],
  };
  return body.line ? [...all, line] : all;
}

/**
 * The planes of a body: a point and a normal of each.
 * @param {Body} body
 */
export function planes(body) {
  const origin = placed({ ...body, position: [0, 0, 0] }, [0, 0, 0]);
  return body.graphics
    .filter((g) => g.shape === "Plane")
    .map((g) => ({
      point: placed(body, g.center ?? [0, 0, 0]),
      normal: placed({ ...body, position: origin }, g.normal ?? [0, 0, 1]),
    }));
}

/**
 * The foot of a point on a plane.
 * @param {{point: number[], normal: number[]}} plane
 * @param {number[]} p
 */
export function foot({ point, normal }, p) {
  const off = dot(normal, p) - dot(normal, point);
  return p.map((x, i) => x - off * normal[i]);
}

/**
 * The part of a polygon whose points p have way · p at most so large.
 * @param {number[][]} corners
 * @param {number[]} way
 * @param {number} most
 */
function cut(corners, way, most) {
  return corners.flatMap((p, k) => {
    const q = corners[(k + 1) % corners.length];
    const [here, there] = [p, q].map((x) => dot(way, x) - most);
    const between = p.map((x, i) => x + (here / (here - there)) * (q[i] - x));
    const crossed = here > 0 !== there > 0 ? [between] : [];
    return here > 0 ? crossed : [p, ...crossed];
  });
}

/** @typedef {{point: number[], normal: number[]}} Plane solid behind its normal */

/**
 * The part of a plane in a box and outside the solids of the other planes.
 * @param {Plane} plane
 * @param {[number, number][]} room least and greatest by axis
 * @param {Plane[]} others
 */
export function plate(plane, room, others) {
  const middle = foot(
    plane,
    room.map(([low, high]) => 0.5 * (low + high)),
  );
  const size = Math.hypot(...room.map(([low, high]) => high - low));
  const least = plane.normal.map(Math.abs).indexOf(Math.min(...plane.normal.map(Math.abs)));
  const first = cross(
    plane.normal,
    AXES.map((_, i) => (i === least ? 1 : 0)),
  );
  const long = Math.hypot(...first) || 1;
  const u = first.map((x) => x / long);
  const v = cross(plane.normal, u);
  let corners = [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
  ].map(([a, b]) => middle.map((x, i) => x + size * (a * u[i] + b * v[i])));
  const bounds = room.flatMap(([low, high], axis) => {
    const unit = AXES.map((_, i) => (i === axis ? 1 : 0));
    return [
      { way: unit, most: high },
      { way: unit.map((x) => -x), most: -low },
    ];
  });
  const solids = others.map((o) => ({ way: o.normal.map((x) => -x), most: -dot(o.normal, o.point) }));
  for (const { way, most } of [...bounds, ...solids]) {
    corners = cut(corners, way, most);
  }
  return corners;
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
export function hull(points) {
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
