/** The server's interface, as far as the page uses it. Errors become Problem. */

import { watched } from "./waiting.js";

/** A refusal of the server (problem+json), or the reason why a request failed. */
export class Problem extends Error {
  /**
   * @param {string} text
   * @param {number} status 0: no answer
   * @param {string} code
   * @param {{pointer: string, message: string}[]} faults
   */
  constructor(text, status, code, faults) {
    super(text);
    this.status = status;
    this.code = code;
    this.faults = faults;
  }
}

/**
 * @param {Response} response
 * @returns {Promise<Problem>}
 */
async function problem(response) {
  try {
    const body = await response.json();
    const text = body.detail || body.title || response.statusText;
    return new Problem(text, response.status, body.code || "", body.errors || []);
  } catch {
    return new Problem(`the server answered ${response.status}`, response.status, "", []);
  }
}

const KEPT = "mechd-token"; // of this tab, until it is closed

/** The token that is sent with every request, or null. */
export const token = () => sessionStorage.getItem(KEPT);

/** @param {string | null} value */
export function setToken(value) {
  if (value === null) {
    sessionStorage.removeItem(KEPT);
  } else {
    sessionStorage.setItem(KEPT, value);
  }
}

/** @type {() => void} */
let denied = () => {};

/** @param {() => void} act when the server requires a token, or another one */
export function onDenied(act) {
  denied = act;
}

/** @param {string | null} [shown] @returns {Record<string, string>} */
export function headers(shown = token()) {
  return shown === null ? {} : { Authorization: `Bearer ${shown}` };
}

/**
 * Whether the server accepts a token.
 * @param {string} value
 */
export async function admits(value) {
  const response = await fetch("/v1", { headers: headers(value), cache: "no-store" });
  return response.ok;
}

const LEASE = "mechd-lease-"; // followed by the instance's id

/** @typedef {import("./types.js").Lease} Lease */

/** The lease that this tab has of an instance. @param {string} id @returns {Lease | null} */
export function lease(id) {
  const kept = JSON.parse(sessionStorage.getItem(LEASE + id) ?? "null");
  // a number alone was stored by an older page
  return kept?.role ? kept : null;
}

/** @param {string} id @param {Lease | null} taken */
export function keepLease(id, taken) {
  if (taken === null) {
    sessionStorage.removeItem(LEASE + id);
  } else {
    sessionStorage.setItem(LEASE + id, JSON.stringify(taken));
  }
}

/** Ids of the instances of which this tab has a lease. */
export const leased = () =>
  Object.keys(sessionStorage)
    .filter((key) => key.startsWith(LEASE))
    .map((key) => key.slice(LEASE.length));

const IN_PATH = /^\/v1\/instances\/([^/?]+)/;

/**
 * The lease of the instance in the path, where it applies: a co-driver's for its inputs only,
 * because it permits nothing else; other requests need no lease.
 * @param {string} path
 * @param {string[]} inputs that are set
 * @returns {Record<string, string>}
 */
function leaseOf(path, inputs) {
  const found = IN_PATH.exec(path);
  const held = found && lease(decodeURIComponent(found[1]));
  if (!held) {
    return {};
  }
  const own = inputs.length > 0 && inputs.every((name) => held.channels.includes(name));
  const shown = held.role !== "co-driver" || own || /\/lease$/.test(path);
  return shown ? { Lease: String(held.lease) } : {};
}

/** @type {Map<string, number>} time of the last request to an instance, ms of the clock */
const asked = new Map();

/** @param {string} id */
export const askedAt = (id) => asked.get(id) ?? 0;

/** Record a request to the instance in the path. @param {string} path */
export function note(path) {
  const found = IN_PATH.exec(path);
  if (found) {
    asked.set(decodeURIComponent(found[1]), Date.now());
  }
}

const PATIENCE = 30000; // ms
const DOWNLOAD = 600000;
const UPLOAD = DOWNLOAD;
const STEP = DOWNLOAD; // its duration depends on the model

/**
 * @param {string} method
 * @param {string} path
 * @param {BodyInit} [body]
 * @param {string} [type] of the body
 * @param {number} [patience] ms
 * @param {string[]} [inputs] that are set
 * @returns {Promise<Response>}
 */
async function send(method, path, body, type, patience = PATIENCE, inputs = []) {
  let response;
  try {
    const asked = fetch(path, {
      method,
      headers: { ...headers(), ...leaseOf(path, inputs), ...(type ? { "Content-Type": type } : {}) },
      body,
      signal: AbortSignal.timeout(patience),
      cache: "no-store",
    });
    response = await watched(path, asked);
  } catch (error) {
    const silent = error instanceof DOMException && error.name === "TimeoutError";
    const seconds = patience / 1000;
    const text = silent
      ? `the server has not answered for ${seconds} s, and may still be processing the request`
      : "the server cannot be reached";
    throw new Problem(text, 0, "", []);
  }
  note(path);
  if (response.status === 401) {
    denied();
  }
  if (!response.ok) {
    throw await problem(response);
  }
  return response;
}

/**
 * Refuse numbers that JSON cannot express, which it would write as null.
 *
 * @param {any} value
 * @param {string} [pointer]
 */
function refuseInfinite(value, pointer = "") {
  if (typeof value === "number" && !Number.isFinite(value)) {
    const message = "not a finite number";
    throw new Problem(`${pointer}: ${message}`, 0, "invalid-request", [{ pointer, message }]);
  }
  for (const [key, member] of value && typeof value === "object" ? Object.entries(value) : []) {
    refuseInfinite(member, `${pointer}/${key.replace(/~/g, "~0").replace(/\//g, "~1")}`);
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {number} [patience] ms
 * @returns {Promise<any>}
 */
async function ask(method, path, body, patience) {
  const inputs = body && "inputs" in body ? Object.keys(Object(body.inputs)) : [];
  refuseInfinite(body);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await send(method, path, text, text && "application/json", patience, inputs);
  return response.status === 204 ? null : response.json();
}

/** @param {string} id @param {string} [rest] */
export const at = (id, rest = "") => `/v1/instances/${encodeURIComponent(id)}${rest}`;

export const about = () => ask("GET", "/v1");

/** @returns {Promise<import("./types.js").Example[]>} */
export const examples = async () => (await ask("GET", "/v1/examples")).items;

/** @param {string} name @returns {Promise<any>} the model document */
export const example = (name) => ask("GET", `/v1/examples/${encodeURIComponent(name)}`);

/**
 * The first thousand, or of those with a label.
 * @param {string} [label] "name=value,name"
 * @returns {Promise<{items: import("./types.js").Instance[], next: string | null}>}
 */
export const instances = (label) =>
  ask("GET", `/v1/instances?limit=1000${label ? `&label=${encodeURIComponent(label)}` : ""}`);

/**
 * @param {string} example
 * @param {string} durability or "": the server's preset
 * @returns {Promise<import("./types.js").Instance>}
 */
export const create = (example, durability) =>
  ask("POST", "/v1/instances", { example, ...(durability ? { durability } : {}) });

/** @param {string} id @returns {Promise<import("./types.js").Instance>} */
export const instance = (id) => ask("GET", at(id));

/** @param {string} id @returns {Promise<import("./types.js").Variable[]>} */
export const variables = async (id) => (await ask("GET", at(id, "/variables"))).items;

/** @param {string} id @returns {Promise<import("./types.js").Values>} */
export const inputs = async (id) => (await ask("GET", at(id, "/inputs"))).inputs;

/**
 * @param {string} id
 * @param {import("./types.js").Values} values
 * @returns {Promise<import("./types.js").Values>} all of them
 */
export const setInputs = async (id, values) =>
  (await ask("PUT", at(id, "/inputs"), { inputs: values })).inputs;

/** @param {string} id @param {number} size @returns {Promise<import("./types.js").Sample>} */
export const step = (id, size) => ask("POST", at(id, "/step"), { size }, STEP);

/** @param {string} id @returns {Promise<import("./types.js").Sample>} */
export const outputs = (id) => ask("GET", at(id, "/outputs"));

/**
 * @param {string} id
 * @param {import("./types.js").RunRequest} request
 * @returns {Promise<import("./types.js").Run>}
 */
export const run = (id, request) => ask("POST", at(id, "/runs"), request);

/** @param {string} id @returns {Promise<import("./types.js").Run[]>} newest first */
export const runs = async (id) => (await ask("GET", at(id, "/runs"))).items;

/** @param {string} rid @param {string} [rest] */
export const ofRun = (rid, rest = "") => `/runs/${encodeURIComponent(rid)}${rest}`;

/** @param {string} id @param {string} rid */
export const stop = (id, rid) => ask("DELETE", at(id, ofRun(rid)));

/** The command in progress, where there is no run. @param {string} id */
export const stopCommand = (id) => ask("POST", at(id, "/stop"), {});

/** @param {string} id @param {string} rid */
export const forget = (id, rid) => ask("DELETE", at(id, ofRun(rid, "/results")));

/**
 * Recorded rows as a file.
 * @param {string} id
 * @param {string} rid
 * @param {"csv" | "npy"} format
 */
export async function table(id, rid, format) {
  const path = at(id, ofRun(rid, `/results?format=${format}`));
  return (await send("GET", path, undefined, "", DOWNLOAD)).blob();
}

/**
 * Recorded rows from a time on: time and the values of each output, row by row.
 * @param {string} id
 * @param {string} rid
 * @param {number} from s; NaN: from the first row
 * @param {number} limit of rows
 */
export async function rows(id, rid, from, limit) {
  // large exponents have a plus sign
  const since = Number.isNaN(from) ? "" : `&from=${encodeURIComponent(from)}`;
  const query = `/results?format=f64&limit=${limit}${since}`;
  const response = await send("GET", at(id, ofRun(rid, query)), undefined, "", DOWNLOAD);
  return new Float64Array(await response.arrayBuffer());
}

/** @param {string} id @returns {Promise<any>} the model document as it was given */
export const model = (id) => ask("GET", at(id, "/model"));

/** @param {string} id @returns {Promise<Record<string, number>>} as they are now */
export const parameters = async (id) => (await ask("GET", at(id, "/parameters"))).parameters;

/**
 * @param {string} id
 * @param {import("./types.js").Values} values
 * @returns {Promise<import("./types.js").Values>} all of them
 */
export const setParameters = async (id, values) =>
  (await ask("PUT", at(id, "/parameters"), { parameters: values })).parameters;

/**
 * @param {import("./types.js").SweepRequest & {model: any}} request
 * @returns {Promise<import("./types.js").Sweep>}
 */
export const sweep = (request) => ask("POST", "/v1/sweeps", request);

/** @returns {Promise<import("./types.js").Sweep[]>} of the server, oldest first, without errors */
export const sweeps = async () => (await ask("GET", "/v1/sweeps")).items;

/** @param {string} wid @param {string} [rest] */
const ofSweep = (wid, rest = "") => `/v1/sweeps/${encodeURIComponent(wid)}${rest}`;

/** @param {string} wid @returns {Promise<import("./types.js").Sweep>} with its errors */
export const oneSweep = (wid) => ask("GET", ofSweep(wid));

/** Stop it, and discard its rows. @param {string} wid */
export const deleteSweep = (wid) => ask("DELETE", ofSweep(wid));

/** @param {string} wid @param {"csv" | "npy"} format */
const sweepTable = (wid, format) =>
  send("GET", ofSweep(wid, `/results?format=${format}`), undefined, "", DOWNLOAD);

/** @param {string} wid @param {"csv" | "npy"} format */
export const sweepFile = async (wid, format) => (await sweepTable(wid, format)).blob();

/**
 * The first lines of a sweep's table; the rest is not read.
 * @param {string} wid
 * @param {number} most lines
 */
export async function sweepLines(wid, most) {
  const reader = (await sweepTable(wid, "csv")).body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let done = !reader; !done; ) {
    const part = await reader?.read();
    text += decoder.decode(part?.value, { stream: true });
    done = part?.done !== false || text.split("\n").length > most;
  }
  await reader?.cancel();
  // after the last end of a line is nothing, or an incomplete line
  return text.split("\r\n").slice(0, -1).slice(0, most);
}

/** @param {string} id @returns {Promise<import("./types.js").Snapshot[]>} oldest first */
export const snapshots = async (id) => (await ask("GET", at(id, "/snapshots"))).items;

/** @param {string} sid @param {string} [rest] */
const ofSnapshot = (sid, rest = "") => `/snapshots/${encodeURIComponent(sid)}${rest}`;

/** @param {string} id @returns {Promise<import("./types.js").Snapshot>} */
export const takeSnapshot = (id) => ask("POST", at(id, "/snapshots"), {});

/** @param {string} id @param {string} sid @returns {Promise<import("./types.js").Instance>} */
export const restore = (id, sid) => ask("POST", at(id, ofSnapshot(sid, "/restore")), {});

/** @param {string} id @param {string} sid */
export const deleteSnapshot = (id, sid) => ask("DELETE", at(id, ofSnapshot(sid)));

/** @param {string} id @param {string} sid */
export const snapshotFile = async (id, sid) => (await send("GET", at(id, ofSnapshot(sid)))).blob();

/**
 * Is it JSON, not a snapshot? In any coding, so that the server can name that.
 * @param {File} file
 */
const isText = async (file) =>
  /\.json$/i.test(file.name) ||
  // zeros and replacement characters are what UTF-16 looks like in UTF-8
  /^[\s\0\ufffd\u200b-\u200f\u2060]*[{[]/.test(await file.slice(0, 256).text());

/** Its text without a mark of UTF-8; "" if it is not UTF-8, or no JSON. @param {File} file */
async function jsonOf(file) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    JSON.parse(text);
    return text;
  } catch {
    return "";
  }
}

/** @param {BodyInit} body @param {string} type */
const post = async (body, type) =>
  (await send("POST", "/v1/instances", body, type, UPLOAD)).json();

/**
 * @param {File} file a model as JSON, or a snapshot
 * @param {string} durability of one made from a model, or "": the server's preset
 * @returns {Promise<import("./types.js").Instance>}
 */
export async function createFrom(file, durability) {
  if (file.size === 0) {
    throw new Problem(`${file.name} is empty`, 0, "", []);
  }
  if (!(await isText(file))) {
    return post(file, "application/vnd.mechd.snapshot");
  }
  // as written: numbers keep their digits, and duplicate names are refused
  const text = await jsonOf(file);
  const kept = durability ? `"durability":${JSON.stringify(durability)},` : "";
  try {
    return await post(text ? `{${kept}"model":${text}}` : file, "application/json");
  } catch (error) {
    if (text && error instanceof Problem && error.code === "malformed-json") {
      // alone it is refused by the lines and columns that it has
      return post(file, "application/json");
    }
    throw error;
  }
}

/**
 * @param {string} id
 * @param {{labels: Record<string, string> | null, ttl: number | null}} traits
 * @returns {Promise<import("./types.js").Instance>}
 */
export const edit = (id, traits) => ask("PATCH", at(id), traits);

/** @param {string} id @returns {Promise<import("./types.js").Lease[]>} oldest first */
export const leases = async (id) => (await ask("GET", at(id, "/lease"))).items;

/**
 * @param {string} id
 * @param {import("./types.js").LeaseRequest} wish
 * @returns {Promise<Lease>} with its number
 */
export const takeLease = (id, wish) => ask("POST", at(id, "/lease"), wish);

/** @param {string} id */
export const renewLease = (id) => ask("PATCH", at(id, "/lease"), {});

/** @param {string} id */
export const dropLease = (id) => ask("DELETE", at(id, "/lease"));

/** Needs the scope admin. @param {string} id @param {string} role */
export const breakLease = (id, role) => ask("DELETE", at(id, `/lease?of=${role}`));

/** @param {string} id */
export const reset = (id) => ask("POST", at(id, "/reset"), {});

/** @param {string} id */
export const remove = (id) => ask("DELETE", at(id));

/** @param {string} id @returns {Promise<import("./types.js").Scene>} */
export const scene = (id) => ask("GET", at(id, "/scene"));

/** @param {string} id @returns {Promise<import("./types.js").Contact[]>} of the last step */
export const contacts = async (id) => (await ask("GET", at(id, "/contacts"))).items;
