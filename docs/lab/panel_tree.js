// Warner's tree (lectures 000, 001 and 003): two coins, four leaves, a matrix, an estimator and its variance.

import { canvas, label, line, shape } from "./drawing.js";
import { code, facts, figure, paragraph, table } from "./elements.js";
import { bracket, formula, hat, over, power, row } from "./formulas.js";
import { bestTruth, leaves, warner } from "./laws.js";
import { plain } from "./numbers.js";
import { bestCoinVariance, sampleVariance, warnerVariance } from "./variances.js";

function tree({ truth, yes, f }, say, width) {
  const number = value => say.number(value, 3);
  const height = 268, svg = canvas(width, height, say("tree.drawing"));
  // three columns: the first coin, what happens then, the leaves with a bar as long as they are likely
  const root = 6, middle = width * 0.29, leaf = width * 0.62, bar = width - 6;
  const rows = [38, 98, 172, 232], branches = [(rows[0] + rows[1]) / 2, (rows[2] + rows[3]) / 2];
  const gap = 54, small = width < 420;  // on a telephone the letters t, f, s stand beside the sliders only
  const start = (branches[0] + branches[1]) / 2;
  const edge = (x1, y1, x2, y2, text, up) => {
    svg.append(line(x1, y1, x2, y2, "edge"));
    // left of the middle, on the side that the edge leaves free
    svg.append(label((x1 + x2) / 2 - 2, (y1 + y2) / 2 + (up ? -4 : 14), text, { "text-anchor": "end" }));
  };
  edge(root + 6, start, middle - 6, branches[0], `${small ? "" : "t = "}${number(truth)}`, true);
  edge(root + 6, start, middle - 6, branches[1], number(1 - truth), false);
  const texts = [[say("tree.truth.node"), "accent"], [say("tree.coin.node"), ""]];
  texts.forEach(([text, kind], i) => svg.append(label(middle, branches[i] + 4, text, { class: `node ${kind}` })));
  svg.append(shape("circle", { cx: root + 3, cy: start, r: 4, class: "dot" }));
  const chances = leaves(truth, yes, f), answers = [f, 1 - f, yes, 1 - yes];
  const longest = Math.max(...chances, 0.01), room = bar - leaf;
  chances.forEach((chance, i) => {
    const from = branches[i < 2 ? 0 : 1];
    const name = `${small ? "" : ["f = ", "", "s = ", ""][i]}${number(answers[i])}`;
    edge(middle + gap, from, leaf - 8, rows[i], name, i % 2 === 0);
    const isYes = i % 2 === 0;
    const box = { x: leaf, y: rows[i] + 8, width: Math.max(1, room * chance / longest), height: 8, rx: 2 };
    svg.append(shape("rect", { ...box, class: isYes ? "on" : "off" }));
    const text = `${say(isYes ? "yes" : "no")} ${number(chance)}`;
    svg.append(label(leaf, rows[i] + 2, text, { class: isYes ? "node accent" : "node" }));
  });
  return svg;
}

function draw(values, say, width) {
  const { truth, yes, f, n } = values, number = say.number;
  const { a, c, epsilon, matrix } = warner(truth, yes);
  const variance = warnerVariance(truth, yes, f, n), best = bestCoinVariance(epsilon, n);
  const expected = c + (a - c) * f;
  const remark = !Number.isFinite(epsilon)
    ? say(yes === 0 ? "tree.certain.yes" : "tree.certain.no")
    : Math.abs(yes - 0.5) < 1e-9
      ? say("tree.best", { epsilon: number(epsilon) })
      : say("tree.wasted", {
        t: number(bestTruth(epsilon)), epsilon: number(epsilon), ratio: number(variance / best, 3),
      });
  return {
    summary: say("tree.summary", { a: number(a), c: number(c), epsilon: say.logarithm(epsilon) }),
    content: [
      figure(say("tree.figure"), tree(values, say, width)),
      table(say("tree.matrix"), ["", say("tree.reports.yes"), say("tree.reports.no")], [
        [say("tree.means.yes"), ...matrix[0].map(chance => number(chance))],
        [say("tree.means.no"), ...matrix[1].map(chance => number(chance))],
      ]),
      facts([
        [say("tree.fact.epsilon"), say.logarithm(epsilon)],
        [say("tree.fact.expected"), say.percent(expected)],
        [say("tree.fact.variance"), number(variance)],
        [say("tree.fact.error"), say("points", { value: number(100 * Math.sqrt(variance), 3) })],
        [say("tree.fact.sample"), number(sampleVariance({ p: a, q: c }, f, n))],
      ]),
      paragraph(remark),
      paragraph(say("tree.formulas")),
      formula(hat("f"), "=", over(row("r", "−", "c"), "t"), "=", over(row("r", "−", number(c)), number(truth))),
      formula("N", hat("f"), "=", over(row("o", "−", "c", "N"), "t"), "=",
        over(row("o", "−", number(c * n)), number(truth))),
      formula("Var", bracket(hat("f")), "=",
        over(row("f", "a", bracket("1", "−", "a"), "+", bracket("1", "−", "f"), "c", bracket("1", "−", "c")),
          row("N", power("t", "2")))),
      code(`answers = mu.Categories(["${say("no")}", "${say("yes")}"])\n`
        + `mu.Warner(answers, truth=${plain(truth)}, yes_coin=${plain(yes)})`),
    ],
  };
}

export const treePanel = { draw };
