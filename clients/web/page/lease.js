/**
 * Who drives an instance. A tab that has taken the lease renews it as long as it is open, whichever
 * instance it shows; one that is closed loses it when its seconds are over.
 */
import * as api from "./api.js";
import { make } from "./dom.js";
import { attempt } from "./notices.js";

/** @typedef {import("./types.js").Lease} Lease */

const SECONDS = 60; // of silence that end the lease
const RENEW = 20000; // ms

/** Renew what this tab has; what has ended is put away. */
async function renew() {
  for (const id of api.leased()) {
    try {
      await api.renewLease(id);
    } catch (error) {
      // without an answer it may last: asked again next time
      if (error instanceof api.Problem && error.status !== 0 && error.status !== 503) {
        api.keepLease(id, null);
      }
    }
  }
}

/** Leases are renewed from now on. */
export function keepLeases() {
  window.setInterval(() => void renew(), RENEW);
  void renew();
}

export class Driver {
  /**
   * @param {string} id of the instance
   * @param {() => import("./types.js").Who | undefined} who asks
   * @param {(foreign: boolean) => void} changed somebody else drives
   */
  constructor(id, who, changed) {
    this.id = id;
    this.who = who;
    this.changed = changed;
    this.ended = false;
    this.text = make("span", { role: "status" });
    this.button = make("button", { type: "button", className: "small" });
    this.others = make("span", { className: "quiet" });
    this.element = make("span", { className: "driver" }, this.text, this.button, this.others);
  }

  end() {
    this.ended = true;
  }

  async refresh() {
    const leases = await api.leases(this.id).catch(() => null);
    if (leases && !this.ended) {
      this.show(leases);
    }
  }

  /** @param {Lease[]} leases */
  show(leases) {
    const owner = leases.find((lease) => lease.role === "owner");
    if (!owner && api.lease(this.id) !== null) {
      // it ran out, or was broken
      api.keepLease(this.id, null);
    }
    const mine = owner !== undefined && api.lease(this.id) !== null;
    const foreign = owner !== undefined && !mine;
    this.text.textContent = mine
      ? "You drive"
      : owner
        ? `Held by ${owner.name || "somebody"}: commands are refused here`
        : "Anybody may drive";
    this.text.classList.toggle("late", foreign);
    this.button.hidden = foreign && this.who()?.scope !== "admin";
    this.button.textContent = mine ? "Give back" : foreign ? "Break the lease" : "Take over";
    this.button.onclick = () => void (mine ? this.drop() : foreign ? this.break() : this.take());
    this.others.textContent = leases
      .filter((lease) => lease !== owner)
      .map((lease) => {
        const channels = lease.channels.length > 0 ? ` of ${lease.channels.join(", ")}` : "";
        return `${lease.name || "somebody"}: ${lease.role}${channels}`;
      })
      .join(" · ");
    this.changed(foreign);
  }

  async take() {
    const wish = { role: "owner", seconds: SECONDS, name: this.who()?.name || "page" };
    const taken = await attempt("take over", () => api.takeLease(this.id, wish));
    if (taken) {
      api.keepLease(this.id, taken.lease);
    }
    await this.refresh();
  }

  async drop() {
    await attempt("give back", () => api.dropLease(this.id));
    api.keepLease(this.id, null);
    await this.refresh();
  }

  async break() {
    await attempt("break the lease", () => api.breakLease(this.id, "owner"));
    await this.refresh();
  }
}
