// Exact variances of estimated shares, for a fixed population of n people. No page here: only mathematics.
//
// A report supports a value with probability p when it is the person's, q when it is not. The estimate of the share f
// is (r - q) / (p - q), r = share of reports that support the value, and its variance
//   [f p(1-p) + (1-f) q(1-q)] / (n (p-q)^2).     Var* is this at f = 0.

import { grr, warner } from "./laws.js";

export const shareVariance = ({ p, q }, f, n) => (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2);

/** Drawing the n people too: the estimate of the share in the population they come from. */
export const sampleVariance = (chances, f, n) => shareVariance(chances, f, n) + f * (1 - f) / n;

/** Warner: with a = P[yes | yes] and c = P[yes | no] in the place of p and q. */
export function warnerVariance(t, s, f, n) {
  const { a, c } = warner(t, s);
  return shareVariance({ p: a, q: c }, f, n);
}

/** What the best coins of that epsilon give, whatever f is: E / (E-1)^2 / n. */
export function bestCoinVariance(epsilon, n) {
  if (!Number.isFinite(epsilon)) return 0;
  return 1 / (4 * Math.sinh(epsilon / 2) ** 2) / n;
}

/** The number of bins of OLH: u = g - 1 minimises E^2/u + u over the integers. (Rounding E + 1 loses up to 2 %.) */
export function bestBins(epsilon) {
  const E = Math.exp(Math.min(epsilon, 20));
  return Math.min(Math.max(1, Math.ceil((Math.sqrt(1 + 4 * E * E) - 1) / 2)) + 1, 2 ** 14);
}

/** The size of subset selection: w minimises [(w-1)E + k-w][wE + k-w-1] / (w(k-w)) over the integers. */
export function bestSize(epsilon, k) {
  const E = Math.exp(epsilon);
  let best = 1, least = Infinity;
  for (let w = 1; w < k; w++) {
    const variance = ((w - 1) * E + k - w) * (w * E + k - w - 1) / (w * (k - w));
    if (variance < least) [best, least] = [w, variance];
  }
  return best;
}

/** The chance that two values fall into one bin: 1/g in the papers, and here where g is a power of two. Otherwise the
 *  2^m hashes of the law that runs cannot be shared out evenly, and it is more: 7e-8 of itself for 3 bins, 2e-3 for 13,000.
 */
function collision(g) {
  const length = Math.floor(Math.log2(g)) + 1;
  if (g === 2 ** (length - 1)) return 1 / g;
  const hashes = 2 ** Math.min(16, length + 9);
  const size = Math.floor(hashes / g), larger = hashes - size * g;
  return (larger * (size + 1) ** 2 + (g - larger) * size ** 2) / hashes ** 2;
}

/** The hash into g bins, then generalised randomised response of the bin: q averages over the hash. */
function localHashing(epsilon, g) {
  const { p, q: lie } = grr(epsilon, g), same = collision(g);
  return { p, q: p * same + lie * (1 - same), setting: `g = ${g}` };
}

/** p and q of every mechanism for shares. Of two with one variance, the one listed first has the shorter report. */
export const ORACLES = {
  GRR: grr,
  SUE: epsilon => ({ p: 1 / (1 + Math.exp(-epsilon / 2)), q: 1 / (1 + Math.exp(epsilon / 2)) }),
  OUE: epsilon => ({ p: 0.5, q: 1 / (Math.exp(epsilon) + 1) }),
  HadamardResponse: epsilon => ({ p: grr(epsilon, 2).p, q: 0.5 }),
  BLH: epsilon => localHashing(epsilon, 2),
  OLH: epsilon => localHashing(epsilon, bestBins(epsilon)),
  SubsetSelection: (epsilon, k) => {
    const w = bestSize(epsilon, k), E = Math.exp(epsilon);
    const p = w * E / (w * E + k - w);
    return { p, q: p * (w - 1) / (k - 1) + (1 - p) * w / (k - 1), setting: `w = ${w}` };
  },
};

/** Every mechanism with its chances and three variances: at share 0, at share f, and averaged over the k values.
 *
 *  The variance is a straight line in f and shares sum to one, so its mean over the values is its value at 1/k.
 */
export function compare(epsilon, k, n, f) {
  return Object.entries(ORACLES).map(([name, chances]) => {
    const pair = chances(epsilon, k);
    const [star, atShare, mean] = [0, f, 1 / k].map(share => shareVariance(pair, share, n));
    return { name, ...pair, star, atShare, mean };
  });
}

/** The row with the least variance; rows that differ by rounding alone are equal, and the first one wins. */
export const leastBy = (rows, key) => rows.reduce((best, row) => (row[key] < best[key] * (1 - 1e-9) ? row : best));

/** What each criterion chooses: Var*, the variance at share f, and its mean over the values, which Murmure goes by. */
export function choice(epsilon, k, n, f) {
  const rows = compare(epsilon, k, n, f);
  return { star: leastBy(rows, "star").name, atShare: leastBy(rows, "atShare").name, mean: leastBy(rows, "mean").name };
}

// -- records of d attributes with k values each --------------------------------------------------------------------

/** The budget at which the papers run RS+FD: ln(d(E-1) + 1). It is what the whole record costs. */
export const amplified = (epsilon, d) => Math.log(d * Math.expm1(epsilon) + 1);

/** What one attribute costs when RS+FD runs at `inner` (equal k, uniform codes or bits of nobody): ln(1 + (E'-1)/d). */
export const attributeLoss = (inner, d) => Math.log(1 + Math.expm1(inner) / d);

/** Fakes: a uniform code for GRR, bits of nobody for OUE. D1, D0 = (p or q + (d-1) fake) / d take the place of p, q. */
function fakeData({ p, q }, fake, d) {
  return { p: (p + (d - 1) * fake) / d, q: (q + (d - 1) * fake) / d };
}

/** The solutions for records that spend epsilon: split it, draw one attribute, or draw one and invent the others.
 *
 *  `paper`: RS+FD at the amplified budget, as published; the record then costs more than epsilon.
 *  Sampling shows an attribute of n/d people: its noise is that of n/d reports, and drawing them adds
 *  f(1-f) (n - n/d) / ((n/d) (n-1)).
 */
export function solutions(epsilon, k, d, n, f, paper = false) {
  const inner = paper ? amplified(epsilon, d) : epsilon;
  const shown = n / d;
  const drawn = f * (1 - f) * (n - shown) / (shown * Math.max(1, n - 1));
  const rows = [];
  for (const name of ["GRR", "OUE"]) {
    const chances = ORACLES[name];
    const add = (title, variance, record, attribute) => rows.push({ name: title, variance, record, attribute });
    add(`SPL[${name}]`, shareVariance(chances(epsilon / d, k), f, n), epsilon, epsilon / d);
    add(`SMP[${name}]`, shareVariance(chances(epsilon, k), f, shown) + drawn, epsilon, epsilon);
    const real = chances(inner, k);
    const hidden = fakeData(real, name === "GRR" ? 1 / k : real.q, d);
    const title = name === "GRR" ? "RS+FD[GRR]" : "RS+FD[OUE-z]";
    add(title, shareVariance(hidden, f, n), inner, attributeLoss(inner, d));
  }
  return rows;
}
