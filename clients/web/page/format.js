/** Numbers for people, and round numbers for axes. */

/**
 * At most `digits` significant digits, without a tail of zeros; a true minus sign.
 * @param {number} x
 * @param {number} [digits]
 */
export function number(x, digits = 6) {
  if (!Number.isFinite(x)) {
    return "–";
  }
  const size = Math.abs(x);
  const far = size !== 0 && (size < 1e-4 || size >= 1e7);
  const text = far ? x.toExponential(digits - 1) : x.toPrecision(digits);
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return (short + (exponent ? `e${exponent.replace("+", "")}` : "")).replace(/-/g, "−");
}

/**
 * A fixed width, so that a changing value does not make its neighbours jump.
 * @param {number} x
 */
export function steady(x) {
  if (!Number.isFinite(x)) {
    return "–";
  }
  const size = Math.abs(x);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(3) : x.toFixed(4);
  return text.replace(/-/g, "−").replace("e+", "e");
}

/** @param {number} t seconds */
export const clock = (t) => `${t.toFixed(t < 1000 ? 3 : 2)} s`;

/**
 * Round steps (1, 2, 5 times a power of ten) for about `wanted` ticks.
 * @param {number} low
 * @param {number} high
 * @param {number} wanted
 * @returns {{ at: number[], step: number }}
 */
export function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= raw * 0.999) ?? 10);
  const at = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    at.push(k * step);
  }
  return { at, step };
}

/**
 * Labels of ticks: as many decimals as the step has.
 * @param {number} x
 * @param {number} step
 */
export function tick(x, step) {
  const value = Math.abs(x) < step * 1e-6 ? 0 : x;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const text =
    decimals > 5 || Math.abs(value) >= 1e6 ? value.toExponential(1) : value.toFixed(decimals);
  return text.replace(/-/g, "−");
}

/** @param {number} n bytes */
export function bytes(n) {
  const power = n < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(n) / 10));
  const unit = ["B", "KiB", "MiB", "GiB", "TiB"][power];
  return `${number(n / 1024 ** power, power === 0 ? 4 : 3)} ${unit}`;
}

const DIGITS = 6; // of the largest number of a column

/**
 * Texts of a column of numbers, all with as many decimals, so that their points are aligned;
 * a dash for a missing one.
 * @param {number[]} values
 */
export function column(values) {
  const sizes = values.filter(Number.isFinite).map(Math.abs);
  const largest = Math.max(0, ...sizes);
  const far = largest >= 1e9 || (largest > 0 && largest < 1e-4);
  const whole = sizes.every(Number.isInteger);
  const decimals = whole ? 0 : Math.max(0, DIGITS - 1 - Math.floor(Math.log10(largest || 1)));
  const plain = (/** @type {number} */ x, /** @type {number} */ d) => x.toFixed(d);
  // without trailing zeros common to all
  const fewest = Array.from({ length: decimals + 1 }, (_, d) => d).find((d) =>
    sizes.every((x) => Number(plain(x, d)) === Number(plain(x, decimals))),
  );
  const write = (/** @type {number} */ x) =>
    far ? x.toExponential(DIGITS - 1).replace("e+", "e") : plain(x, fewest ?? decimals);
  return values.map((x) => (Number.isFinite(x) ? write(x).replace(/-/g, "−") : "–"));
}
