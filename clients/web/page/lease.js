/**
 * The leases of an instance. A tab that has taken a lease renews it as long as it is open,
 * whichever instance it shows; the lease of a closed tab expires.
 */
import * as api from "./api.js";
import { make } from "./dom.js";
import { attempt } from "./notices.js";

/** @typedef {import("./types.js").Lease} Lease */

const SECONDS = 60; // of inactivity that end the lease
const RENEW = 20000; // ms

/** Renew the leases of this tab; expired ones are removed. */
async function renew() {
  for (const id of api.leased()) {
    try {
      await api.renewLease(id);
    } catch (error) {
      // without an answer it may still hold: renewed again next time
      if (error instanceof api.Problem && error.status !== 0 && error.status !== 503) {
        api.keepLease(id, null);
      }
    }
  }
}

/** Start renewing leases. */
export function keepLeases() {
  window.setInterval(() => void renew(), RENEW);
  void renew();
}

/** @param {Lease} lease */
const holder = (lease) => lease.name || "another client";

/** Is it this tab's lease? Observers are all alike. @param {Lease} one @param {Lease} other */
const alike = (one, other) =>
  one.role === other.role && String(one.channels) === String(other.channels);

/**
 * The text for the holder of a lease, or for a tab without one.
 * @param {Lease | null} held by this tab
 * @param {Lease | undefined} owner
 */
function standing(held, owner) {
  if (held?.role === "owner") {
    return "You are the owner";
  }
  if (held?.role === "observer") {
    return owner
      ? `You are an observer; the owner is ${holder(owner)}`
      : "You are an observer: commands are disabled here";
  }
  if (held) {
    const own = `You set ${held.channels.join(", ")}`;
    return owner ? `${own}; the owner is ${holder(owner)}` : `${own}; there is no owner`;
  }
  return owner
    ? `The owner is ${holder(owner)}: commands are refused here`
    : "No owner: any client may send commands";
}

/**
 * @typedef {object} Limits parts that other clients control
 * @property {boolean} commands
 * @property {string} driver why commands are refused, or ""
 * @property {(input: string) => string} input its only setter, or ""
 */

/** @param {Lease | null} held by this tab @param {Lease[]} leases @returns {Limits} */
function limits(held, leases) {
  const owner = leases.find((lease) => lease.role === "owner");
  const watching = held?.role === "observer";
  const mine = held?.role === "owner";
  const foreign = owner && !mine ? `the owner is ${holder(owner)}` : "";
  return {
    commands: watching || (owner !== undefined && !mine),
    driver: watching ? "you are an observer" : foreign,
    input: (name) => {
      const other = leases.find((l) => l.role === "co-driver" && l.channels.includes(name));
      if (mine || (held?.role === "co-driver" && held.channels.includes(name))) {
        return "";
      }
      return watching
        ? "others: you are an observer"
        : owner
          ? holder(owner)
          : other
            ? holder(other)
            : "";
    },
  };
}

export class Driver {
  /**
   * @param {string} id of the instance
   * @param {string[]} inputs of it
   * @param {() => import("./types.js").Who | undefined} who asks
   * @param {(limits: Limits) => void} changed the limits by other leases
   */
  constructor(id, inputs, who, changed) {
    this.id = id;
    this.inputs = inputs;
    this.who = who;
    this.changed = changed;
    this.ended = false;
    /** @type {Lease[]} */
    this.leases = [];
    this.text = make("span", { role: "status" });
    this.button = make("button", { type: "button", className: "small" });
    this.open = make("button", { type: "button", className: "small" }, "Other roles");
    this.open.setAttribute("aria-expanded", "false");
    this.open.onclick = () => this.toggle();
    this.others = make("span", { className: "quiet" });
    this.element = make(
      "span",
      { className: "driver" },
      this.text,
      this.button,
      this.open,
      this.others,
    );
    this.form = make("div", {});
  }

  end() {
    this.ended = true;
  }

  async refresh() {
    const number = api.lease(this.id)?.lease;
    const leases = await api.leases(this.id).catch(() => null);
    // an answer from before a lease was taken does not list it
    if (leases && !this.ended && number === api.lease(this.id)?.lease) {
      this.show(leases);
    }
  }

  /** @param {Lease[]} leases */
  show(leases) {
    this.leases = leases;
    const owner = leases.find((lease) => lease.role === "owner");
    const kept = api.lease(this.id);
    const own = kept && leases.find((lease) => alike(lease, kept));
    if (kept && !own) {
      // it expired, or was broken
      api.keepLease(this.id, null);
    }
    const held = own ? kept : null;
    const foreign = owner !== undefined && held?.role !== "owner";
    this.text.textContent = standing(held, owner);
    this.text.classList.toggle("late", foreign && !held);
    this.button.hidden = !held && foreign && this.who()?.scope !== "admin";
    this.button.textContent = held ? "Release" : foreign ? "Revoke the lease" : "Become owner";
    this.button.onclick = () =>
      void (held ? this.drop() : foreign ? this.break() : this.take("owner"));
    this.open.hidden = held !== null;
    if (held && this.form.childElementCount > 0) {
      this.toggle();
    }
    this.others.textContent = leases
      .filter((lease) => lease !== owner && lease !== own)
      .map((lease) => {
        const channels = lease.channels.length > 0 ? ` of ${lease.channels.join(", ")}` : "";
        return `${holder(lease)}: ${lease.role}${channels}`;
      })
      .join(" · ");
    this.changed(limits(held, leases));
  }

  /** The roles other than owner. */
  toggle() {
    const open = this.form.childElementCount === 0;
    this.form.replaceChildren(...(open ? [this.roles()] : []));
    this.open.setAttribute("aria-expanded", String(open));
    if (open) {
      const first = this.form.querySelector("input:enabled, button:enabled");
      if (first instanceof HTMLElement) {
        first.focus();
      }
    } else if (this.open.hidden) {
      this.button.focus();
    } else {
      this.open.focus();
    }
  }

  roles() {
    const taken = limits(null, this.leases.filter((lease) => lease.role === "co-driver"));
    const boxes = this.inputs.map((name) =>
      make("input", { type: "checkbox", value: name, disabled: taken.input(name) !== "" }),
    );
    const label = (/** @type {HTMLInputElement} */ box) => {
      const by = taken.input(box.value);
      const text = by === "" ? box.value : `${box.value} (${by})`;
      return make("label", { className: "choice" }, box, text);
    };
    const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
    const button = (/** @type {string} */ text, /** @type {() => void} */ act) =>
      make("button", { type: "button", onclick: act }, text);
    const drive = button("Become co-driver", () => void this.take("co-driver", chosen()));
    drive.disabled = true;
    const group = make(
      "div",
      { className: "line", role: "group", "aria-label": "Inputs of the co-driver" },
      ...boxes.map(label),
      drive,
    );
    group.addEventListener("change", () => {
      drive.disabled = chosen().length === 0;
    });
    const note = (/** @type {string} */ text) => make("p", { className: "quiet" }, text);
    return make(
      "section",
      { className: "panel editor", "aria-label": "Other roles" },
      note("Only the co-driver and the owner can set the chosen inputs."),
      this.inputs.length > 0 ? group : note("This model has no inputs."),
      note("An observer changes nothing; other clients see that it watches."),
      make(
        "div",
        { className: "line" },
        button("Become observer", () => void this.take("observer")),
        button("Close", () => this.toggle()),
      ),
    );
  }

  /** @param {import("./types.js").LeaseRequest["role"]} role @param {string[]} [channels] */
  async take(role, channels) {
    const name = this.who()?.name || "page";
    const wish = { role, seconds: SECONDS, name, ...(channels ? { channels } : {}) };
    const taken = await attempt(`become ${role}`, () => api.takeLease(this.id, wish));
    if (taken) {
      api.keepLease(this.id, taken);
    }
    await this.refresh();
  }

  async drop() {
    await attempt("release the lease", () => api.dropLease(this.id));
    api.keepLease(this.id, null);
    await this.refresh();
  }

  async break() {
    await attempt("revoke the lease", () => api.breakLease(this.id, "owner"));
    await this.refresh();
  }
}
