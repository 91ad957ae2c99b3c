/** Requests without an answer for a while: shown at their control, and in the badge. */
import { make } from "./dom.js";

const WHILE = 1000; // ms

/** @type {Set<{path: string}>} requests without an answer */
const late = new Set();
/** @type {Set<() => void>} */
const hearers = new Set();

const changed = () => hearers.forEach((hear) => hear());

/** @param {() => void} act the set of late requests has changed @returns {() => void} ends it */
export function onLate(act) {
  hearers.add(act);
  return () => void hearers.delete(act);
}

/** Is a request to this address, or to one below it, late? @param {string} path */
export const isLate = (path) =>
  [...late].some((one) => one.path === path || one.path.startsWith(`${path}/`));

/**
 * Watch over a request.
 * @template T
 * @param {string} path
 * @param {Promise<T>} answer
 * @returns {Promise<T>} the same
 */
export async function watched(path, answer) {
  const one = { path };
  const timer = setTimeout(() => {
    late.add(one);
    changed();
  }, WHILE);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    if (late.delete(one)) {
      changed();
    }
  }
}

/** A quiet text beside a control, while its request has no answer. */
export class Wait {
  constructor() {
    this.element = make("span", { className: "wait quiet", role: "status" });
    this.pending = 0;
  }

  /** Is it shown that there is no answer? */
  get told() {
    return this.element.textContent !== "";
  }

  /**
   * Run an action; none is started while another one is shown as in progress.
   * @template T
   * @param {() => Promise<T>} action
   * @returns {Promise<T | undefined>}
   */
  async during(action) {
    if (this.told) {
      this.element.textContent = "still waiting for the server…";
      return undefined;
    }
    this.pending++;
    const timer = setTimeout(() => {
      this.element.textContent ||= "waiting for the server…";
    }, WHILE);
    try {
      return await action();
    } finally {
      clearTimeout(timer);
      if (--this.pending === 0) {
        this.element.textContent = "";
      }
    }
  }
}
