/** A line of a list of background work: runs and sweeps. */
import { make } from "./dom.js";

/** Its elements are reused, only texts change. */
export class Listed {
  /** @param {"run" | "sweep"} kind @param {string} id */
  constructor(kind, id) {
    this.badge = make("span", { className: "badge" });
    this.about = make("span", { className: "quiet number" });
    this.bar = make("progress", { max: 1, "aria-label": `Progress of ${kind} ${id}` });
    this.facts = make("span", { className: "quiet number" });
    this.progress = make("div", { className: "line" }, this.bar, this.facts);
    this.place = make("div", {});
    this.buttons = make("span", { className: "line" });
    this.name = `${kind} ${id}`;
    this.element = make(
      "li",
      { className: "run" },
      make(
        "div",
        { className: "line" },
        make("strong", {}, id),
        this.badge,
        this.about,
        make("span", { className: "grow" }),
        this.buttons,
      ),
      this.progress,
      this.place,
    );
    this.element.dataset[kind] = id;
  }

  /** @param {string} text @param {() => void} act */
  button(text, act) {
    const made = make("button", { type: "button", className: "small", onclick: act });
    this.setText(made, text);
    this.buttons.append(made);
    return made;
  }

  /** @param {HTMLButtonElement} button @param {string} text */
  setText(button, text) {
    button.textContent = text;
    button.setAttribute("aria-label", `${text}, ${this.name}`);
  }

  /**
   * @param {{ state: string, bad: boolean, done: number | null, facts: string[] }} now
   * state: as the server reports it; done: the completed fraction; facts: empty ones are left out
   */
  tell({ state, bad, done, facts }) {
    this.element.dataset.state = state;
    this.badge.textContent = state;
    this.badge.className = `badge ${state === "running" ? "on" : ""} ${bad ? "bad" : ""}`;
    this.bar.hidden = done === null;
    this.bar.value = done ?? 0;
    const part = done === null ? "" : `${Math.floor(100 * done)} %`;
    this.facts.textContent = [part, ...facts].filter((text) => text !== "").join(" · ");
  }
}
