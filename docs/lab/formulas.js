// Formulas as MathML, which browsers typeset by themselves. A string is a number, a letter or a sign by its looks.

const NAMESPACE = "http://www.w3.org/1998/Math/MathML";

function element(tag, ...children) {
  const node = document.createElementNS(NAMESPACE, tag);
  node.append(...children.map(piece));
  return node;
}

function piece(child) {
  if (child instanceof Node) return child;
  const tag = /^(−?\d|∞)/.test(child) ? "mn" : /^\p{L}/u.test(child) ? "mi" : "mo";
  const leaf = document.createElementNS(NAMESPACE, tag);
  if ("()".includes(child)) leaf.setAttribute("stretchy", "false");  // as high as the letters, not as their hats
  leaf.textContent = child;
  return leaf;
}

export const row = (...children) => element("mrow", ...children);
export const over = (above, below) => element("mfrac", above, below);
export const power = (base, exponent) => element("msup", base, exponent);

/** A letter with a hat: an estimate. */
export function hat(letter) {
  const node = element("mover", letter, "^");
  node.setAttribute("accent", "true");
  return node;
}

/** What stands in brackets. */
export const bracket = (...children) => row("(", ...children, ")");

/** The variance of an estimated share with chances p and q, as the lecture prints it. */
export const variance = () => [
  over(row("q", bracket("1", "−", "q")), row("N", power(bracket("p", "−", "q"), "2"))), "+",
  over(row("f", bracket("1", "−", "p", "−", "q")), row("N", bracket("p", "−", "q"))),
];

/** A formula on a line of its own. It may be wider than a telephone, and then scrolls. */
export function formula(...children) {
  const box = document.createElement("div");
  box.className = "formula";
  const math = element("math", ...children);
  math.setAttribute("display", "block");
  box.append(math);
  return box;
}
