// The few pieces of HTML that panels are made of.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Numbers under their names: entries [name, value]. */
export function facts(entries) {
  const items = entries.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return element("dl", { class: "facts" }, ...items);
}

/** A table whose first column names its rows. best: for each row, the columns whose number is the best one. */
export function table(caption, head, rows, best = []) {
  const heading = element("tr", {}, ...head.map(text => (text ? element("th", { scope: "col" }, text) : element("td"))));
  const body = rows.map(([name, ...cells], i) =>
    element("tr", {}, element("th", { scope: "row" }, name),
      ...cells.map((cell, j) => element("td", best[i]?.[j] ? { class: "best" } : {}, cell))));
  const whole = element("table", {}, element("caption", {}, caption), element("thead", {}, heading), element("tbody", {}, ...body));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, whole);
}

export const paragraph = (text, kind) => element("p", kind ? { class: kind } : {}, text);
export const figure = (caption, ...content) => element("figure", {}, element("figcaption", {}, caption), ...content);
export const code = text => element("pre", { tabindex: "0" }, element("code", {}, text));
