/** The server's interface, as far as the page uses it. Errors become Problem. */

/** What the server answers when it refuses (problem+json), or why it could not be asked. */
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

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function ask(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(30000),
      cache: "no-store",
    });
  } catch {
    throw new Problem("the server cannot be reached", 0, "", []);
  }
  if (!response.ok) {
    throw await problem(response);
  }
  return response.status === 204 ? null : response.json();
}

/** @param {string} id @param {string} [rest] */
const at = (id, rest = "") => `/v1/instances/${encodeURIComponent(id)}${rest}`;

export const about = () => ask("GET", "/v1");

/** @returns {Promise<import("./types.js").Example[]>} */
export const examples = async () => (await ask("GET", "/v1/examples")).items;

/** @param {string} name @returns {Promise<any>} the model document */
export const example = (name) => ask("GET", `/v1/examples/${encodeURIComponent(name)}`);

/** @returns {Promise<import("./types.js").Instance[]>} */
export const instances = async () => (await ask("GET", "/v1/instances?limit=1000")).items;

/** @param {string} example @returns {Promise<import("./types.js").Instance>} */
export const create = (example) => ask("POST", "/v1/instances", { example });

/** @param {string} id @returns {Promise<import("./types.js").Instance>} */
export const instance = (id) => ask("GET", at(id));

/** @param {string} id @returns {Promise<import("./types.js").Variable[]>} */
export const variables = async (id) => (await ask("GET", at(id, "/variables"))).items;

/** @param {string} id @returns {Promise<import("./types.js").Values>} */
export const inputs = async (id) => (await ask("GET", at(id, "/inputs"))).inputs;

/** @param {string} id @param {import("./types.js").Values} values */
export const setInputs = (id, values) => ask("PUT", at(id, "/inputs"), { inputs: values });

/** @param {string} id @param {number} size @returns {Promise<import("./types.js").Sample>} */
export const step = (id, size) => ask("POST", at(id, "/step"), { size });

/** @param {string} id @returns {Promise<import("./types.js").Sample>} */
export const outputs = (id) => ask("GET", at(id, "/outputs"));

/** @param {string} id @returns {Promise<import("./types.js").Run>} */
export const run = (id) => ask("POST", at(id, "/runs"), { pace: 1 });

/** @param {string} id @param {string} rid */
export const stop = (id, rid) => ask("DELETE", at(id, `/runs/${encodeURIComponent(rid)}`));

/** @param {string} id */
export const reset = (id) => ask("POST", at(id, "/reset"), {});

/** @param {string} id */
export const remove = (id) => ask("DELETE", at(id));

/** @param {string} id @returns {Promise<import("./types.js").Scene>} */
export const scene = (id) => ask("GET", at(id, "/scene"));

/** @param {string} id @returns {Promise<import("./types.js").Contact[]>} of the last step */
export const contacts = async (id) => (await ask("GET", at(id, "/contacts"))).items;

/**
 * Live outputs. The browser reconnects by itself.
 * @param {string} id
 * @param {(sample: import("./types.js").Sample) => void} receive
 * @param {(connected: boolean) => void} link
 * @returns {() => void} ends it
 */
export function live(id, receive, link) {
  const source = new EventSource(at(id, "/events?rate=30"));
  source.onopen = () => link(true);
  source.onerror = () => link(false);
  source.onmessage = (event) => receive(JSON.parse(event.data));
  source.addEventListener("end", () => {
    source.close();
    link(false);
  });
  return () => source.close();
}
