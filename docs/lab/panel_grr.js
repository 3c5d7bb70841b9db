// Generalised randomised response (lecture 000): the law of one report, as bars.

import { axes, label, shape } from "./drawing.js";
import { code, facts, figure, paragraph } from "./elements.js";
import { bracket, formula, hat, over, power, row, variance as varianceFormula } from "./formulas.js";
import { grr } from "./laws.js";
import { plain } from "./numbers.js";
import { shareVariance } from "./variances.js";

function bars({ epsilon, k, x }, say, width) {
  const { p, q } = grr(epsilon, k);
  const number = value => say.number(value, 3);
  const frame = axes({
    width, height: 280, title: say("grr.drawing", { x, p: say.number(p), q: say.number(q) }), number,
    x: [0.5, k + 0.5], y: [0, Math.max(p, q) * 1.12], xTicks: [], xName: say("grr.report"), yName: say("probability"),
  });
  const { svg, atX, atY, bottom } = frame;
  const wide = Math.max(2, (atX(2) - atX(1)) * 0.7);
  const every = Math.ceil(k * 26 / (frame.right - frame.left));  // labels that fit beside each other
  for (let y = 1; y <= k; y++) {
    const chance = y === x ? p : q;
    const box = { x: atX(y) - wide / 2, y: atY(chance), width: wide, height: bottom - atY(chance) };
    svg.append(shape("rect", { ...box, class: y === x ? "on" : "fill" }));
    if (y % every === 0 || every === 1) svg.append(label(atX(y), bottom + 18, String(y), { "text-anchor": "middle" }));
  }
  svg.append(label(atX(x), atY(p) - 6, number(p), { "text-anchor": "middle", class: "node accent" }));
  return svg;
}

function draw(values, say, width) {
  const { epsilon, k, x, f, n } = values, number = say.number;
  const { p, q } = grr(epsilon, k);
  const variance = shareVariance({ p, q }, f, n);
  return {
    summary: say("grr.summary", { p: number(p), q: number(q), ratio: number(Math.exp(epsilon)) }),
    content: [
      figure(say("grr.figure", { x }), bars(values, say, width)),
      facts([
        [say("grr.fact.lie"), say.percent(1 - p)],
        [say("star"), number(shareVariance({ p, q }, 0, n))],
        [say("grr.fact.variance", { f: number(f) }), number(variance)],
        [say("grr.fact.error"), say("points", { value: number(100 * Math.sqrt(variance), 3) })],
      ]),
      paragraph(say("grr.formulas")),
      formula("p", "=", over(power("e", "ε"), row(power("e", "ε"), "+", "k", "−", "1")), "=", number(p)),
      formula("q", "=", over("1", row(power("e", "ε"), "+", "k", "−", "1")), "=", number(q)),
      formula(hat("f"), "=", over(row("r", "−", "q"), row("p", "−", "q"))),
      formula("Var", bracket(hat("f")), "=", ...varianceFormula()),
      code(`mu.GRR(mu.Categories(${k}), epsilon=${plain(epsilon)})`),
    ],
  };
}

export const grrPanel = { draw };
