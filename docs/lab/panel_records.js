// Several attributes (lecture 003): split the budget, draw one attribute, or draw one and invent the others.

import { axes, curve, key, line, shape } from "./drawing.js";
import { code, figure, paragraph, table } from "./elements.js";
import { plain } from "./numbers.js";
import { leastBy, solutions } from "./variances.js";

const LINES = {
  "SPL[GRR]": "line c1", "SPL[OUE]": "line c1 dashed", "SMP[GRR]": "line", "SMP[OUE]": "line dashed",
  "RS+FD[GRR]": "line c4", "RS+FD[OUE-z]": "line c4 dashed",
};
const ATTRIBUTES = [2, 3, 4, 5, 6, 7, 8, 9, 10];

function picture({ epsilon, k, d, n, f, budget }, say, width) {
  const lines = Object.fromEntries(Object.keys(LINES).map(name => [name, []]));
  for (const count of ATTRIBUTES) {
    const rows = solutions(epsilon, k, count, n, f, budget === "paper");
    for (const { name, variance } of rows) lines[name].push([count, variance]);
  }
  const all = Object.values(lines).flat().map(([, variance]) => variance);
  const frame = axes({
    width, height: 320, title: say("records.drawing"), number: say.number, logY: true,
    x: [1.8, 10.2], y: [Math.min(...all) / 1.4, Math.max(...all) * 1.4], xTicks: ATTRIBUTES,
    xName: say("records.d"), yName: say("variance"),
  });
  frame.svg.append(line(frame.atX(d), frame.top, frame.atX(d), frame.bottom, "chosen"));
  for (const [name, points] of Object.entries(lines)) frame.svg.append(curve(frame, points, LINES[name]));
  const best = leastBy(solutions(epsilon, k, d, n, f, budget === "paper"), "variance");
  frame.svg.append(shape("circle", { cx: frame.atX(d), cy: frame.atY(best.variance), r: 5, class: "dot" }));
  const entries = Object.entries(LINES).map(([name, kind]) => [kind, name]);
  return [frame.svg, key([...entries, ["chosen", say("records.chosen")]])];
}

function draw(values, say, width) {
  const { epsilon, k, d, n, f, budget } = values, { number, cell, power } = say;
  const rows = solutions(epsilon, k, d, n, f, budget === "paper");
  const best = leastBy(rows, "variance");
  const shown = [...rows].sort((one, other) => one.variance - other.variance);
  return {
    summary: say(best.record > epsilon * (1 + 1e-9) ? "records.dearer" : "records.best", {
      best: best.name, variance: number(best.variance), record: number(best.record), epsilon: number(epsilon), d,
    }),
    content: [
      figure(say("records.figure"), ...picture(values, say, width)),
      table(say("records.table", { epsilon: number(epsilon), k: number(k), d, n: number(n) }),
        [say("records.solution"), say("records.variance", { f: number(f) }), say("varstar.error"),
          say("records.record"), say("records.attribute")],
        shown.map(row => [row.name, power(row.variance), cell(100 * Math.sqrt(row.variance), 3),
          cell(row.record), cell(row.attribute)]),
        shown.map(row => [row === best])),
      paragraph(say(`records.why.${budget}`, { inner: number(Math.max(...rows.map(row => row.record))), d })),
      code([
        `schema = mu.Schema({f"a{i}": mu.Categories(${k}) for i in range(${d})})`,
        `mu.SPL(schema, ${plain(epsilon)}, oracle="GRR")`,
        `mu.SMP(schema, ${plain(epsilon)}, oracle="GRR")`,
        `mu.RSFD(schema, ${plain(epsilon)}, "GRR", calibrate="${budget}")`,
      ].join("\n")),
    ],
  };
}

export const recordsPanel = { draw };
