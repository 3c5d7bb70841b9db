// What one report can tell, read off the integers that this device uses, not off the epsilon that a plan states: the
// largest factor by which a report can move the odds between two answers (or two records). A plan whose law was changed
// shows it here. Fractions are exact; where a law has no simple closed form the factor is an upper bound.

import { BitsLaw, ChainedBitsLaw } from "./bits.js";
import { HadamardLaw } from "./hadamard.js";
import { HashedLaw } from "./hashed.js";
import { HiddenLaw } from "./hidden.js";
import { WORD } from "./integers.js";
import { JointLaw, SampledLaw } from "./records.js";
import { SubsetLaw } from "./subset.js";
import { TableLaw } from "./table.js";
import { TaggedLaw } from "./tagged.js";
import { WindowLaw } from "./window.js";

const MAX_CELLS = 256; // of a table, which is compared row by row
const DIGITS = 10n ** 12n;

const above = ([a, b], [c, d]) => a * d > c * b;
const larger = (one, other) => (above(one, other) ? one : other);
const product = ratios => ratios.reduce(([a, b], [c, d]) => [a * c, b * d], [1n, 1n]);
/** p / q or q / p, whichever is above one. */
const either = (p, q) => (p > q ? [p, q] : [q, p]);

/** Two answers differ in two bits: one is more often set, the other less often. */
const bits = (p, q, whole) => either(p * (whole - q), (whole - p) * q);

const RATIOS = new Map([
  [WindowLaw, law => [law.inside + (law.rest > 0n ? 1n : 0n), law.outside]],
  [TableLaw, table],
  [BitsLaw, ({ yesTrue, yesFalse }) => bits(yesTrue, yesFalse, WORD)],
  [ChainedBitsLaw, ({ permanent: { yesTrue, yesFalse }, yesOne, yesZero }) => {
    const through = kept => kept * yesOne + (WORD - kept) * yesZero;
    return bits(through(yesTrue), through(yesFalse), WORD * WORD);
  }],
  [HashedLaw, law => ratio(law.bins)], // the hash is public, and says nothing of the answer
  [HadamardLaw, ({ keep, log }) => either(keep, (1n << (64n - log)) - keep)],
  [SubsetLaw, ({ keep, size, inputs }) => {
    const [a, b] = either(keep * BigInt(inputs - size), (WORD - keep) * BigInt(size));
    return [a * (WORD + 8n * BigInt(size) * BigInt(inputs)), b * WORD]; // draws of other values are even to 2**-64 only
  }],
  [TaggedLaw, law => larger(ratio(law.first), ratio(law.second))],
  [JointLaw, law => product(law.parts.map(ratio))],
  [SampledLaw, law => product(law.parts.map(ratio).sort((a, b) => (above(a, b) ? -1 : 1)).slice(0, law.take))],
  // sum_j s_j P_j[y_j | x_j] / F_j[y_j] over the same sum for x': at most the largest of the single ratios
  [HiddenLaw, law => law.parts.map(({ real }) => ratio(real)).reduce(larger)],
]);

function table(law) {
  const rows = Array.from({ length: law.inputs }, (_, x) => law.weights(x));
  return rows[0].map((_, y) => {
    const column = rows.map(row => row[y]);
    return [column.reduce((a, b) => (a > b ? a : b)), column.reduce((a, b) => (a < b ? a : b))];
  }).reduce(larger);
}

const ratio = law => RATIOS.get(law.constructor)(law);

/** The factor as a number, rounded up in its twelfth decimal. Infinity: the table is too large to be compared here. */
export function oddsOf(plan) {
  const [a, b] = tooLarge(plan.law) ? [0n, 0n] : ratio(plan.law);
  return b === 0n ? Infinity : Number((a * DIGITS) / b + 1n) / Number(DIGITS);
}

function tooLarge(law) {
  // (A table of two reports has one weight a row, and is never too large.)
  if (law instanceof TableLaw) return law.reports > MAX_CELLS;
  return (law.parts ?? []).some(part => tooLarge(part.real ?? part));
}
