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
  const columns = head.map(text => (text ? element("th", { scope: "col" }, text) : element("td")));
  const body = rows.map(([name, ...cells], i) =>
    element("tr", {}, element("th", { scope: "row" }, name),
      ...cells.map((cell, j) => element("td", best[i]?.[j] ? { class: "best" } : {}, cell))));
  const whole = element("table", { "aria-label": caption },
    element("thead", {}, element("tr", {}, ...columns)), element("tbody", {}, ...body));
  // The caption stays where it is while a wide table scrolls below it.
  return element("div", {}, element("p", { class: "caption" }, caption), element("div", { class: "scroll" }, whole));
}

export const paragraph = (text, kind) => element("p", kind ? { class: kind } : {}, text);
export const figure = (caption, ...content) => element("figure", {}, element("figcaption", {}, caption), ...content);
export const code = text => element("pre", {}, element("code", {}, text));
