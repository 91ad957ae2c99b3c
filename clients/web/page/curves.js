/** Curves of an instance: what they are, which value of a sample each takes, and their switches. */
import { make } from "./dom.js";

/** @typedef {import("./types.js").Channel} Channel */

const CHANNELS_MOST = 24,
  ON_AT_FIRST = 6,
  COLORS = 8;

/**
 * The number of values of a variable.
 * @param {import("./types.js").Variable} variable
 */
export const size = ({ shape }) => shape.reduce((a, b) => a * b, 1);

/**
 * A curve for each component of each output.
 * @param {import("./types.js").Variable[]} outputs
 * @returns {Channel[]}
 */
export function channelsOf(outputs) {
  /** @type {Channel[]} */
  const channels = [];
  for (const v of outputs) {
    for (let i = 0; i < size(v) && channels.length < CHANNELS_MOST; i++) {
      channels.push({
        key: v.name,
        component: v.shape.length > 0 ? i : -1,
        label: v.shape.length > 0 ? `${v.name}[${i}]` : v.name,
        unit: v.unit,
        color: channels.length % COLORS,
        on: channels.length < ON_AT_FIRST,
      });
    }
  }
  return channels;
}

/** @param {Channel[]} channels @param {import("./types.js").Values} outputs */
export function pick(channels, outputs) {
  return channels.map((channel) => {
    const value = outputs[channel.key];
    return Array.isArray(value) ? value[Math.max(0, channel.component)] : (value ?? NaN);
  });
}

/**
 * A button for each curve.
 * @param {Channel[]} channels
 * @param {() => void} changed
 */
export function legend(channels, changed) {
  return make(
    "div",
    { className: "legend", role: "group", "aria-label": "Curves" },
    ...channels.map((channel) => {
      const chip = make("span", { className: `chip curve-${channel.color}` });
      const button = make(
        "button",
        { type: "button", className: "curve", "aria-pressed": String(channel.on) },
        chip,
        channel.label,
      );
      button.onclick = () => {
        channel.on = !channel.on;
        button.setAttribute("aria-pressed", String(channel.on));
        changed();
      };
      return button;
    }),
  );
}
