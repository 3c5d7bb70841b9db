// Which mechanism for one attribute (lecture 003): Var* against epsilon, and what changes when the share is not 0.

import { axes, curve, key, line, shape } from "./drawing.js";
import { code, figure, paragraph, table } from "./elements.js";
import { bracket, formula, hat, variance } from "./formulas.js";
import { plain } from "./numbers.js";
import { ORACLES, choice, compare, leastBy, shareVariance } from "./variances.js";

/** Lines that lie on each other are told apart by their dashes. */
const LINES = {
  GRR: "line c1", SUE: "line c4", BLH: "line c3", OLH: "line c5 dashed", OUE: "line c2", SubsetSelection: "line heavy",
};
const POINTS = 96;

/** As in the lecture's figure, or as far as the chosen epsilon. */
const range = epsilon => [Math.min(0.5, epsilon), Math.max(5, epsilon)];

function picture({ epsilon, k, n, f }, say, width) {
  const [low, high] = range(epsilon);
  const steps = Array.from({ length: POINTS + 1 }, (_, i) => low + (high - low) * i / POINTS);
  const lines = Object.fromEntries(Object.keys(LINES).map(name =>
    [name, steps.map(one => [one, shareVariance(ORACLES[name](one, k), f, n)])]));
  const all = Object.values(lines).flat().map(([, variance]) => variance);
  const frame = axes({
    width, height: 340, title: say("varstar.drawing", { k: say.number(k), n: say.number(n), f: say.number(f) }),
    number: value => say.number(value, 3), logY: true, x: [low, high],
    y: [Math.min(...all) / 1.3, Math.max(...all) * 1.3],
    xName: "ε", yName: say(f === 0 ? "star" : "varstar.axis", { f: say.number(f) }),
  });
  frame.svg.append(line(frame.atX(epsilon), frame.top, frame.atX(epsilon), frame.bottom, "chosen"));
  for (const name of [...Object.keys(LINES)].reverse()) frame.svg.append(curve(frame, lines[name], LINES[name]));
  const rows = compare(epsilon, k, n, f).filter(({ name }) => name in LINES);
  const best = leastBy(rows, "atShare");
  frame.svg.append(shape("circle", { cx: frame.atX(epsilon), cy: frame.atY(best.atShare), r: 5, class: "dot" }));
  const entries = Object.entries(LINES).map(([name, kind]) => [kind, name === "BLH" ? "BLH = HadamardResponse" : name]);
  return [frame.svg, key([...entries, ["chosen", say("varstar.chosen")]])];
}

function draw(values, say, width) {
  const { epsilon, k, n, f } = values, { number, cell, power } = say;
  const rows = compare(epsilon, k, n, f);
  const chosen = choice(epsilon, k, n, f);
  const named = best => rows.find(({ name }) => name === best);
  const [star, share, mean] = [named(chosen.star), named(chosen.atShare), named(chosen.mean)];
  const sorted = [...rows].sort((one, other) => one.mean - other.mean);
  const full = ({ name, setting }) => (setting ? `${name} (${setting})` : name);
  return {
    summary: star === share && star === mean
      ? say("varstar.same", { best: full(star) })
      : say("varstar.differ", { star: full(star), share: full(share), mean: full(mean), f: number(f) }),
    content: [
      figure(say("varstar.figure"), ...picture(values, say, width)),
      table(say("varstar.table", { epsilon: number(epsilon), k: number(k), n: number(n) }),
        [say("mechanism"), say("star"), say("varstar.at", { f: number(f) }), say("varstar.mean"), say("varstar.error"),
          "p", "q"],
        sorted.map(row => [full(row), power(row.star), power(row.atShare), power(row.mean),
          cell(100 * Math.sqrt(row.atShare), 3), cell(row.p, 3), cell(row.q, 3)]),
        sorted.map(row => [row === star, row === share, row === mean])),
      paragraph(say("varstar.caution")),
      ...(f > 0 ? [paragraph(say("varstar.jumps"))] : []),
      formula("Var", bracket(hat("f")), "=", ...variance()),
      code(`mu.advise(mu.Categories(${k}), epsilon=${plain(epsilon)}, people=${plain(n)})`),
    ],
  };
}

export const varstarPanel = { draw };
