// The laws of the lectures: what a person reports, and how likely. No page here: only mathematics.
//
// E = e^epsilon throughout. The exact epsilon of a law is the largest logarithm of P[y | x] / P[y | x'].

/** Warner's two coins: the truth with probability t, otherwise yes with probability s.
 *
 *  a = P[yes | yes] = t + (1-t) s,   c = P[yes | no] = (1-t) s,   eps = max( ln(a/c), ln((1-c)/(1-a)) ).
 */
export function warner(t, s) {
  const c = (1 - t) * s;
  const a = t + c;
  // 1 - a is written without a subtraction from 1, so that it is exactly 0 where a "no" is always the truth.
  const noFromYes = (1 - t) * (1 - s);
  const epsilon = Math.max(Math.log(a / c), Math.log((noFromYes + t) / noFromYes));
  return { a, c, epsilon, matrix: [[a, noFromYes], [c, 1 - c]] };
}

/** The leaves of the tree, when a share f of people means yes: truth yes, truth no, coin yes, coin no. */
export function leaves(t, s, f) {
  return [t * f, t * (1 - f), (1 - t) * s, (1 - t) * (1 - s)];
}

/** The first coin that spends epsilon when the second one is fair: ln((1+t)/(1-t)) = eps, so t = tanh(eps/2). */
export const bestTruth = epsilon => Math.tanh(epsilon / 2);

/** Generalised randomised response over k values: p for the true one, q for each other one. */
export function grr(epsilon, k) {
  const E = Math.exp(epsilon);
  return { p: E / (E + k - 1), q: 1 / (E + k - 1) };
}

// -- numbers in [0, 1], cut into cells ---------------------------------------------------------------------

/** The cell of a value; the last one is closed. */
export const cellOf = (x, cells) => Math.min(cells - 1, Math.floor(x * cells));

/** P[y | x] proportional to shape[|y - x|]: each x has its own normaliser, which is what makes redrawing delicate. */
export function shifted(shape, x) {
  const weights = shape.map((_, y) => shape[Math.abs(y - x)]);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map(weight => weight / total);
}

/** The exact epsilon of that law, over all reports and all pairs of inputs, with one that attains it. */
export function exactLoss(shape) {
  const rows = shape.map((_, x) => shifted(shape, x));
  let best = { epsilon: 0, x: 0, other: 0, y: 0 };
  for (let y = 0; y < shape.length; y++) {
    let high = 0, low = 0;
    for (let x = 1; x < shape.length; x++) {
      if (rows[x][y] > rows[high][y]) high = x;
      if (rows[x][y] < rows[low][y]) low = x;
    }
    const epsilon = Math.log(rows[high][y] / rows[low][y]);
    if (epsilon > best.epsilon) best = { epsilon, x: high, other: low, y };
  }
  return best;
}

/** Bounded Laplace on cells: a^d at distance d, a = e^(-eps/(cells-1)). Exactly eps, between the two ends. */
export function laplaceShape(epsilon, cells) {
  return Array.from({ length: cells }, (_, d) => Math.exp(-epsilon * d / (cells - 1)));
}

/** What a person with value x reports. */
export const boundedLaplace = (epsilon, cells, x) => shifted(laplaceShape(epsilon, cells), cellOf(x, cells));

/** The listing that never redraws: the density of Laplace's law of scale 1/eps around x, over all numbers. */
export const laplaceDensity = (epsilon, x, y) => epsilon / 2 * Math.exp(-epsilon * Math.abs(y - x));

/** ... and how much of it falls outside [0, 1]. */
export const laplaceOutside = (epsilon, x) => (Math.exp(-epsilon * x) + Math.exp(-epsilon * (1 - x))) / 2;

/** The half width of the staircase's top, b = e^-t: "absolute" minimises E|noise|, "variance" (in the lecture) its variance.
 *
 *  The lecture's formula is (cbrt(B) - b) / (1-b) with B = b(1+b)/2, because b - 2b^2 + 2b^4 - b^5 = b (1+b) (1-b)^3.
 *  At small eps cbrt(B) and b cancel; so it is written as (B - b^3) / (cbrt(B)^2 + cbrt(B) b + b^2) / (1-b), and
 *  B - b^3 = b (1-b) (1+2b) / 2.
 */
export function stairGamma(b, kind) {
  if (kind === "absolute") return Math.sqrt(b) / (1 + Math.sqrt(b));
  const root = Math.cbrt(b * (1 + b) / 2);
  return b * (1 + 2 * b) / 2 / (root * root + root * b + b * b);
}

/** The mean of the two-level staircase over the cell at distance d: 1 up to gamma, b beyond. */
export function stairShape(b, kind, cells) {
  const edge = stairGamma(b, kind) * (cells - 1);
  return Array.from({ length: cells }, (_, d) => {
    // the cell at distance 0 reaches half a cell to both sides
    const high = d === 0 ? Math.min(1, 2 * edge) : Math.min(1, Math.max(0, edge - (d - 0.5)));
    return high + (1 - high) * b;
  });
}

/** e to the exact loss, as `exactLoss` finds it, without keeping the rows: P[y | x] = shape[|y - x|] / norm(x). */
function worstRatio(shape) {
  const cells = shape.length;
  const ends = [];
  shape.reduce((sum, one, d) => (ends[d] = sum + one), 0);
  const norm = x => ends[x] + ends[cells - 1 - x] - shape[0];
  let worst = 1;
  for (let y = 0; y < cells; y++) {
    let high = 0, low = Infinity;
    for (let x = 0; x < cells; x++) {
      const chance = shape[Math.abs(y - x)] / norm(x);
      if (chance > high) high = chance;
      if (chance < low) low = chance;
    }
    if (high / low > worst) worst = high / low;
  }
  return worst;
}

/** The sharpest staircase that costs epsilon after the cut to [0, 1]: its b = e^-t, by bisection on the exact loss. */
export function calibratedStair(epsilon, kind, cells) {
  let low = Math.exp(-2 * epsilon), high = 1;  // sharper than any answer, and flat
  while (high - low > 1e-14 * high) {
    const middle = Math.sqrt(low * high);
    if (!(low < middle && middle < high)) break;
    if (Math.log(worstRatio(stairShape(middle, kind, cells))) > epsilon) low = middle;
    else high = middle;
  }
  return { b: high, inner: -Math.log(high), shape: stairShape(high, kind, cells) };
}

/** What a person with value x reports. */
export const boundedStair = (epsilon, kind, cells, x) =>
  shifted(calibratedStair(epsilon, kind, cells).shape, cellOf(x, cells));

/** The lecture's staircase: density around 0, steps of length 1. `printed`: with b^j where b^(j+1) belongs. */
export function stairDensity(epsilon, kind, z, printed = false) {
  const b = Math.exp(-epsilon), gamma = stairGamma(b, kind);
  const top = (1 - b) / (2 * (gamma + b * (1 - gamma)));
  if (Math.abs(z) < gamma) return top;
  const step = Math.floor(Math.abs(z) - gamma);
  return top * b ** (printed ? step : step + 1);
}

/** The mass of the density as printed: (1 + g(1-b)) / (b + g(1-b)), which is 1 for no epsilon. */
export function printedMass(epsilon, kind) {
  const b = Math.exp(-epsilon), gamma = stairGamma(b, kind);
  return (1 + gamma * (1 - b)) / (b + gamma * (1 - b));
}

/** The staircase redrawn until inside [0, 1], on cells. Inside, the density has two levels: 1 up to gamma, then b. */
export function redrawnStair(epsilon, kind, x, cells) {
  const b = Math.exp(-epsilon), gamma = stairGamma(b, kind);
  const inTop = (from, to) => Math.max(0, Math.min(to, x + gamma) - Math.max(from, x - gamma));
  const mass = (from, to) => inTop(from, to) * (1 - b) + b * (to - from);
  return Array.from({ length: cells }, (_, y) => mass(y / cells, (y + 1) / cells) / mass(0, 1));
}

/** How likely one draw of the staircase around x falls inside [0, 1]. It depends on x: this is why redrawing tells. */
export function stairInside(epsilon, kind, x) {
  const b = Math.exp(-epsilon), gamma = stairGamma(b, kind);
  const inTop = Math.min(1, x + gamma) - Math.max(0, x - gamma);
  return stairDensity(epsilon, kind, 0) * (inTop * (1 - b) + b);
}

/** Its exact epsilon, for x = 0 against x' = 1/2: eps + ln[(2g + b(1-2g)) / (g + b(1-g))]. Redrawing costs the rest. */
export function redrawnLoss(epsilon, kind) {
  const b = Math.exp(-epsilon), gamma = stairGamma(b, kind);
  return epsilon + Math.log((2 * gamma + b * (1 - 2 * gamma)) / (gamma + b * (1 - gamma)));
}

/** The mean report of a law on cells, each report being the middle of its cell. */
export const meanReport = law => law.reduce((sum, chance, y) => sum + chance * (y + 0.5) / law.length, 0);
