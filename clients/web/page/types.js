/**
 * Types of what the server answers and takes, by the page's names; for the type checker and the
 * reader, without code. Their members are printed from the tables of the server (../schemas.d.ts).
 *
 * @typedef {import("../schemas.js").Value} Value
 * @typedef {Record<string, Value>} Values
 * @typedef {import("../schemas.js").Run} Run
 * @typedef {import("../schemas.js").AboutWho} Who
 * @typedef {import("../schemas.js").RunRequest} RunRequest
 * @typedef {import("../schemas.js").Snapshot} Snapshot
 *
 * @typedef {number[] | {from: number, to: number, count: number}} Axis of a grid
 * @typedef {import("../schemas.js").SweepRequest
 *   & {parameters: {grid: Record<string, Axis>}}} SweepRequest the last name is the fastest
 * @typedef {import("../schemas.js").Sweep} Sweep
 *
 * @typedef {import("../schemas.js").Lease} Lease
 * @typedef {import("../schemas.js").LeaseRequest} LeaseRequest
 * @typedef {import("../schemas.js").Instance["durability"]} Durability
 * @typedef {import("../schemas.js").Instance} Instance
 * @typedef {import("../schemas.js").Variable} Variable
 * @typedef {import("../schemas.js").Outputs
 *   & {step: number, running?: boolean, life?: string}} Sample of live events, with what these have
 * @typedef {import("../schemas.js").ExampleEntry} Example
 * @typedef {import("../schemas.js").SceneGraphic & {size: number[], radius: number}} Graphic
 *   the page reads these two of shapes that have them
 * @typedef {Omit<import("../schemas.js").SceneBody, "graphics">
 *   & {position: number[], graphics: Graphic[]}} Body of bodies that are drawn
 * @typedef {import("../schemas.js").Contact} Contact
 * @typedef {import("../schemas.js").SceneSystem} System
 * @typedef {Omit<import("../schemas.js").Scene, "bodies"> & {bodies: Body[]}} Scene
 *
 * @typedef {object} Channel one curve: a component of an output
 * @property {string} key name of the output
 * @property {number} component index, or -1 for a scalar
 * @property {string} label
 * @property {string} unit
 * @property {number} color index into the palette
 * @property {boolean} on
 */
export {};
