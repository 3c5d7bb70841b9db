// Drawings as SVG, at the width they are given: letters keep their size, on a telephone too.
// Colours are classes of lab.css, because the page's policy allows no style inside elements.

import { powerOfTen } from "./numbers.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, typeof value === "number" ? Math.round(value * 100) / 100 : value);
  }
  node.append(...children);
  return node;
}

/** An empty drawing; the title is what a screen reader says of it. */
export function canvas(width, height, title) {
  return shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
}

export const label = (x, y, text, attributes = {}) => shape("text", { x, y, class: "tick", ...attributes }, text);
export const line = (x1, y1, x2, y2, kind) => shape("line", { x1, y1, x2, y2, class: kind });

/** Round numbers between two others, about `count` of them. */
export function roundTicks(low, high, count = 5) {
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find(factor => factor * unit >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** Powers of ten between two numbers; of a wide range not all of them. */
export function powerTicks(low, high, most = 7) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks;
}

/** A scale: value to pixel. */
const linear = (low, high, from, to) => value => from + (value - low) / (high - low) * (to - from);
const logarithmic = (low, high, from, to) => {
  const scale = linear(Math.log(low), Math.log(high), from, to);
  return value => scale(Math.log(value));
};

/** Axes with a grid.
 *
 *  frame: { width, height, title, x: [low, high], y: [low, high], logX, logY, xTicks, yTicks, xName, yName, number }.
 */
export function axes(frame) {
  const { width, height, x, y, number } = frame;
  const yTicks = frame.yTicks ?? (frame.logY ? powerTicks(...y) : roundTicks(...y));
  const xTicks = frame.xTicks ?? (frame.logX ? powerTicks(...x) : roundTicks(...x, width < 420 ? 5 : 8));
  const yNumber = frame.logY ? powerOfTen : number;
  const longest = Math.max(...yTicks.map(tick => yNumber(tick).length));
  const left = 14 + 7.2 * longest, top = 26, right = width - 14, bottom = height - 40;
  const atX = (frame.logX ? logarithmic : linear)(...x, left, right);
  const atY = (frame.logY ? logarithmic : linear)(...y, bottom, top);
  const svg = canvas(width, height, frame.title);
  for (const tick of yTicks) {
    svg.append(line(left, atY(tick), right, atY(tick), "grid"));
    svg.append(label(left - 8, atY(tick) + 4, yNumber(tick), { "text-anchor": "end" }));
  }
  svg.append(line(left, bottom, right, bottom, "zero"));
  for (const tick of xTicks) {
    svg.append(line(atX(tick), bottom, atX(tick), bottom + 4, "zero"));
    svg.append(label(atX(tick), bottom + 18, number(tick), { "text-anchor": "middle" }));
  }
  svg.append(label(right, height - 4, frame.xName, { "text-anchor": "end", class: "axis" }));
  svg.append(label(0, 12, frame.yName, { class: "axis" }));
  return { svg, atX, atY, left, right, top, bottom };
}

/** A line through points [x, y]; values that the frame cannot show are left out. */
export function curve({ atX, atY }, points, kind) {
  const seen = points.filter(([x, y]) => Number.isFinite(atX(x)) && Number.isFinite(atY(y)));
  const steps = seen.map(([x, y], i) => `${i ? "L" : "M"}${atX(x).toFixed(1)},${atY(y).toFixed(1)}`);
  return shape("path", { d: steps.join(""), class: kind });
}

/** A law on cells of [0, 1] as a density: steps whose area is 1. */
export function stairs(law) {
  const cells = law.length;
  return law.flatMap((chance, y) => [[y / cells, chance * cells], [(y + 1) / cells, chance * cells]]);
}

/** The key of a drawing: entries [class, text]. */
export function key(entries) {
  const list = document.createElement("p");
  list.className = "key";
  for (const [kind, text] of entries) {
    const item = document.createElement("span");
    const swatch = shape("svg", { width: 28, height: 10, "aria-hidden": "true" }, line(0, 5, 28, 5, kind));
    item.append(swatch, text);
    list.append(item);
  }
  return list;
}
