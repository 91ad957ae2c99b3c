/** Snapshots of an instance: take one, go back to one, keep one as a file, delete one. */
import * as api from "./api.js";
import { make } from "./dom.js";
import { bytes, clock } from "./format.js";
import { attempt } from "./notices.js";
import { save } from "./results.js";

/** @typedef {import("./types.js").Snapshot} Snapshot */

export class Snapshots {
  /**
   * @param {string} id of the instance
   * @param {() => void} restored the state has changed
   */
  constructor(id, restored) {
    this.id = id;
    this.restored = restored;
    this.ended = false;
    this.shown = "";
    const take = make("button", { type: "button", onclick: () => void this.take() }, "Take");
    take.setAttribute("aria-label", "Take a snapshot");
    this.list = make("ul", { className: "snapshots" });
    this.none = make(
      "p",
      { className: "quiet" },
      "No snapshots yet. A snapshot stores the present state.",
    );
    this.element = make(
      "section",
      { className: "panel", "aria-label": "Snapshots" },
      make("div", { className: "title" }, make("h2", {}, "Snapshots"), take),
      this.none,
      this.list,
    );
  }

  end() {
    this.ended = true;
  }

  async refresh() {
    const items = await api.snapshots(this.id).catch(() => null);
    if (items && !this.ended) {
      this.show(items);
    }
  }

  /** @param {Snapshot[]} items oldest first */
  show(items) {
    const text = JSON.stringify(items);
    if (text === this.shown) {
      return;
    }
    this.shown = text;
    // the keyboard focus is restored
    const focused = document.activeElement?.getAttribute("aria-label");
    this.list.replaceChildren(...[...items].reverse().map((item) => this.row(item)));
    this.none.hidden = items.length > 0;
    for (const button of this.list.querySelectorAll("button")) {
      if (focused && button.getAttribute("aria-label") === focused) {
        button.focus();
      }
    }
  }

  /** @param {Snapshot} item */
  row(item) {
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) => {
      const b = make("button", { type: "button", className: "small", onclick: act }, text);
      b.setAttribute("aria-label", `${text} ${item.id}`);
      return b;
    };
    return make(
      "li",
      {},
      make("strong", {}, item.id),
      make("span", { className: "number" }, clock(item.time)),
      make("span", { className: "quiet number grow" }, bytes(item.bytes)),
      make(
        "span",
        { className: "line" },
        button("Restore", () => void this.restore(item.id)),
        button("Save file", () => void this.download(item.id)),
        button("Delete", () => void this.remove(item.id)),
      ),
    );
  }

  async take() {
    await attempt("take a snapshot", () => api.takeSnapshot(this.id));
    await this.refresh();
  }

  /** @param {string} sid */
  async restore(sid) {
    const done = await attempt(`restore ${sid}`, () => api.restore(this.id, sid));
    if (done) {
      this.restored();
    }
  }

  /** @param {string} sid */
  async download(sid) {
    const content = await attempt(`save ${sid}`, () => api.snapshotFile(this.id, sid));
    if (content) {
      save(content, `${this.id}-${sid}.mechd`);
    }
  }

  /** @param {string} sid */
  async remove(sid) {
    await attempt(`delete ${sid}`, () => api.deleteSnapshot(this.id, sid));
    await this.refresh();
  }
}
