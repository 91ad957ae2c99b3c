/** Server-sent events by fetch (EventSource sends no token), with reconnection. */
import { at, headers, note, ofRun } from "./api.js";

/**
 * @typedef {object} Event
 * @property {string} kind "message" without a name
 * @property {string} id "" without one
 * @property {string} data
 */

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {(event: Event) => void} receive
 */
async function readEvents(body, receive) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const lines = event.split("\n");
      const of = (/** @type {string} */ name) =>
        lines.filter((l) => l.startsWith(`${name}:`)).map((l) => l.slice(name.length + 1).trim());
      if (of("data").length > 0) {
        receive({
          kind: of("event")[0] ?? "message",
          id: of("id")[0] ?? "",
          data: of("data").join("\n"),
        });
      }
    }
  }
}

const RECONNECT = 1000; // ms

/**
 * Events of an address until `end`, until it is gone, or until the caller ends them.
 * @param {string} path
 * @param {string} last id after which it begins, or ""
 * @param {(event: Event) => void} receive
 * @param {(connected: boolean) => void} link
 * @param {() => void} gone there are no such events any more
 * @returns {() => void} ends it
 */
function follow(path, last, receive, link, gone) {
  const control = new AbortController();
  let over = false;
  const take = (/** @type {Event} */ event) => {
    over = event.kind === "end";
    last = event.id || last;
    receive(event);
  };
  const read = async () => {
    while (!over && !control.signal.aborted) {
      try {
        const response = await fetch(path, {
          headers: { ...headers(), ...(last ? { "Last-Event-ID": last } : {}) },
          signal: control.signal,
          cache: "no-store",
        });
        note(path);
        over = response.status === 401 || response.status === 404;
        if (response.status === 404) {
          gone();
        }
        if (response.ok && response.body) {
          link(true);
          await readEvents(response.body, take);
        }
      } catch {
        // lost, or never established: reported and tried again below
      }
      if (!over && !control.signal.aborted) {
        link(false);
        await new Promise((resolve) => setTimeout(resolve, RECONNECT));
      }
    }
  };
  void read();
  return () => control.abort();
}

/**
 * Live outputs.
 * @param {string} id
 * @param {(sample: import("./types.js").Sample) => void} receive
 * @param {(connected: boolean) => void} link
 * @param {() => void} gone the instance is deleted
 * @returns {() => void} ends it
 */
export const live = (id, receive, link, gone) =>
  follow(
    at(id, "/events?rate=30"),
    "",
    ({ kind, data }) => {
      if (kind === "end") {
        gone();
      } else if (kind === "message") {
        receive(JSON.parse(data));
      }
    },
    link,
    gone,
  );

/* Rows are numbered from 1; behind this one there is none: what is recorded is asked for when it
 * is shown. */
const NO_ROWS = String(Number.MAX_SAFE_INTEGER);

/**
 * Progress and end of a run.
 * @param {string} id
 * @param {string} rid
 * @param {(run: import("./types.js").Run) => void} receive
 * @param {(connected: boolean) => void} link
 * @returns {() => void} ends it
 */
export const progress = (id, rid, receive, link) =>
  follow(
    at(id, ofRun(rid, "/events?rate=10")),
    NO_ROWS,
    ({ kind, data }) => (kind === "progress" || kind === "end") && receive(JSON.parse(data)),
    link,
    () => {},
  );
