/** Making and finding elements. */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [properties] set on the element; those with a dash as attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-")) {
      element.setAttribute(key, String(value));
    } else {
      Object.assign(element, { [key]: value });
    }
  }
  element.append(...children);
  return element;
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function find(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) {
    throw new Error(`the page has no #${id}`);
  }
  return element;
}

/**
 * A canvas that keeps the sharpness of the screen. Calls `draw` with the size in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {(context: CanvasRenderingContext2D, width: number, height: number) => void} draw
 * @returns {{ request: () => void, end: () => void }}
 */
export function surface(canvas, draw) {
  const context = canvas.getContext("2d");
  let pending = 0;
  const paint = () => {
    pending = 0;
    const width = canvas.clientWidth,
      height = canvas.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    if (!context || width === 0 || height === 0) {
      return;
    }
    if (
      canvas.width !== Math.round(width * ratio) ||
      canvas.height !== Math.round(height * ratio)
    ) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  const request = () => {
    pending = pending || requestAnimationFrame(paint);
  };
  // a new size, another screen or another colour scheme asks for a new picture
  const observer = new ResizeObserver(request);
  observer.observe(canvas);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", request);
  request();
  return {
    request,
    end() {
      observer.disconnect();
      scheme.removeEventListener("change", request);
      cancelAnimationFrame(pending);
    },
  };
}

/** @returns {(name: string) => string} reads a colour of the style sheet, in the current scheme */
export function inks() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}
