// Bounded Laplace and staircase (lecture 000): right, redrawn, and as printed.

import { axes, curve, key, line, stairs } from "./drawing.js";
import { code, facts, figure, paragraph } from "./elements.js";
import * as laws from "./laws.js";
import { plain } from "./numbers.js";

const CELLS = 100;  // Murmure's own laws live on cells; hundredths are fine enough to look like the lecture's curves
const FORMS = { laplace: ["right", "printed"], staircase: ["right", "redrawn", "printed"] };

/** The printed density comes with its own gamma; Laplace has none. What cannot be chosen keeps its value. */
const allowed = (name, { law, form, gamma }) =>
  ({ form: FORMS[law], gamma: law === "staircase" && form !== "printed" ? ["absolute", "variance"] : [gamma] })[name];

/** What there is to draw and to say about a law at x, by law and form. `wide`: it is drawn beyond its bounds. */
const CASES = {
  "laplace right": ({ epsilon, x }) => {
    const shape = laws.laplaceShape(epsilon, CELLS), law = laws.shifted(shape, laws.cellOf(x, CELLS));
    return { points: stairs(law), exact: laws.exactLoss(shape), mean: laws.meanReport(law) };
  },
  "laplace printed": ({ epsilon, x }) => {
    return {
      points: sampled(y => laws.laplaceDensity(epsilon, x, y)), wide: true,
      reference: stairs(laws.boundedLaplace(epsilon, CELLS, x)),
      exact: { epsilon }, mean: x, outside: laws.laplaceOutside(epsilon, x),
    };
  },
  "staircase right": ({ epsilon, x, gamma }) => {
    const { inner, shape } = laws.calibratedStair(epsilon, gamma, CELLS);
    const law = laws.shifted(shape, laws.cellOf(x, CELLS));
    return { points: stairs(law), exact: laws.exactLoss(shape), mean: laws.meanReport(law), inner };
  },
  "staircase redrawn": ({ epsilon, x, gamma }) => {
    const law = laws.redrawnStair(epsilon, gamma, x, CELLS);
    const right = laws.boundedStair(epsilon, gamma, CELLS, x);
    return {
      points: stairs(laws.redrawnStair(epsilon, gamma, x, 10 * CELLS)), reference: stairs(right),
      exact: { epsilon: laws.redrawnLoss(epsilon, gamma), x: 0, other: CELLS / 2 },
      mean: laws.meanReport(law), inside: laws.stairInside(epsilon, gamma, x),
    };
  },
  "staircase printed": ({ epsilon, x }) => ({
    points: sampled(y => laws.stairDensity(epsilon, "variance", y - x, true)), wide: true,
    reference: sampled(y => laws.stairDensity(epsilon, "variance", y - x)), mass: laws.printedMass(epsilon, "variance"),
  }),
};

/** A density over [-1, 2], on points close enough for its steps to look upright. */
const sampled = density => Array.from({ length: 1501 }, (_, i) => [i / 500 - 1, density(i / 500 - 1)]);

function picture(found, { law, form, x }, say, width) {
  const shown = [...found.points, ...(found.reference ?? [])];
  const frame = axes({
    width, height: 280, title: say(`laws.${law}.${form}.drawing`), number: value => say.number(value, 3),
    x: found.wide ? [-1, 2] : [0, 1], y: [0, Math.max(...shown.map(([, height]) => height)) * 1.12],
    xName: say("laws.report"), yName: say("density"),
  });
  const upright = (at, kind) => frame.svg.append(line(frame.atX(at), frame.top, frame.atX(at), frame.bottom, kind));
  if (found.wide) [0, 1].forEach(end => upright(end, "bound"));
  upright(x, "true");
  if (found.reference) frame.svg.append(curve(frame, found.reference, "line c2 dashed"));
  frame.svg.append(curve(frame, found.points, "line"));
  const entries = [["line", say(`laws.${law}.${form}.curve`)], ["true", say("laws.value")]];
  if (found.reference) entries.splice(1, 0, ["line c2 dashed", say(`laws.${law}.${form}.reference`)]);
  if (found.wide) entries.push(["bound", say("laws.bounds")]);
  return [frame.svg, key(entries)];
}

function draw(values, say, width) {
  const { law, form, gamma, epsilon, x } = values, number = say.number;
  const found = CASES[`${law} ${form}`](values);
  const middle = cell => number((cell + 0.5) / CELLS);
  const entries = [[say("laws.fact.asked"), number(epsilon, 6)]];
  if (found.exact) entries.push([say("laws.fact.exact"), number(found.exact.epsilon, 6)]);
  if (found.inner) entries.push([say("laws.fact.inner"), number(found.inner, 6)]);
  if (found.mean !== undefined) entries.push([say("laws.fact.mean"), number(found.mean)]);
  if (found.outside) entries.push([say("laws.fact.outside"), say.percent(found.outside)]);
  if (found.inside) entries.push([say("laws.fact.inside"), say.percent(found.inside)]);
  if (found.mass) entries.push([say("laws.fact.mass"), number(found.mass)]);
  if (law === "staircase") {
    const b = Math.exp(-(found.inner ?? epsilon));
    entries.push([say("laws.fact.gamma"), number(laws.stairGamma(b, form === "printed" ? "variance" : gamma))]);
  }
  const summary = say(`laws.${law}.${form}.summary`, {
    epsilon: number(epsilon), exact: found.exact ? number(found.exact.epsilon, 6) : "",
    mass: found.mass ? number(found.mass) : "",
    outside: found.outside ? say.percent(found.outside) : "", inner: found.inner ? number(found.inner) : "",
    mean: found.mean === undefined ? "" : number(found.mean), x: number(x),
    from: found.exact ? middle(found.exact.x) : "", to: found.exact ? middle(found.exact.other) : "",
  });
  const name = law === "laplace" ? "BoundedLaplace" : "BoundedStaircase";
  const extra = law === "staircase" && gamma === "variance" ? ', gamma="variance"' : "";
  return {
    summary,
    content: [
      figure(say(`laws.${law}.figure`), ...picture(found, values, say, width)),
      facts(entries),
      paragraph(say(`laws.${law}.${form}.why`)),
      code(`mu.${name}(mu.Interval(0.0, 1.0, cells=${CELLS}), epsilon=${plain(epsilon)}${extra})`),
    ],
  };
}

export const lawsPanel = { draw, allowed };
