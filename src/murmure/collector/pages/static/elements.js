// The few pieces of HTML and SVG that pages are made of. Colours are classes: the policy allows no style in elements.

const NAMESPACE = "http://www.w3.org/2000/svg";

export const byId = id => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** One hundred people as dots; counts are those of each class, in order. The title is what a screen reader says. */
export function hundredDots(counts, title, columns = 10) {
  const rows = 100 / columns, gap = 12;
  const viewBox = `0 0 ${columns * gap} ${rows * gap}`;
  const svg = shape("svg", { viewBox, class: "dots", role: "img", "aria-label": title });
  let at = 0;
  counts.forEach((count, kind) => {
    for (let i = 0; i < count; i++, at++) {
      const [cx, cy] = [(at % columns) * gap + gap / 2, Math.floor(at / columns) * gap + gap / 2];
      svg.append(shape("circle", { cx, cy, r: 4.2, class: `d${kind}` }));
    }
  });
  return svg;
}

/** The same as a narrow bar. */
export function hundredBar(counts, title) {
  const stretched = { viewBox: "0 0 100 6", preserveAspectRatio: "none" };
  const svg = shape("svg", { ...stretched, class: "bar", role: "img", "aria-label": title });
  let x = 0;
  counts.forEach((count, kind) => {
    svg.append(shape("rect", { x, y: 0, width: count, height: 6, class: `d${kind}` }));
    x += count;
  });
  return svg;
}

export function show(node, visible = true) {
  node.hidden = !visible;
}
