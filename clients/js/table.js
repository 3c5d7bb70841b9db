// A law written out: one row of integer weights per input. Only the row of this answer is built.
// The same as src/murmure/laws/table.py: the alias method in integers, one word a report.

import { WORD, bigInteger, bitLength, exactly, smallInteger } from "./integers.js";
import { Refusal, shown } from "./refusal.js";

const MAX_CELLS = 4096;

export class TableLaw {
  constructor(law, inputs, owner) {
    this.inputs = inputs;
    const read = law?.rows !== undefined ? readRows : law?.g !== undefined ? readShifts : readRamp;
    [this.row, this.reports] = read(law, inputs, owner);
    this.owner = owner;
  }

  /** The weights of row x: each positive, all together 2**64. */
  weights(x) {
    const weights = this.row(x);
    if (weights.some(w => w < 1n) || weights.reduce((sum, w) => sum + w) !== WORD) throw wrongSum(this.owner);
    return weights;
  }

  draw(x, words) {
    return this.pick(x, words.take(1).big(0));
  }

  pick(x, u) {
    const { threshold, alias, log } = aliasOf(this.weights(x));
    const column = Number(u >> BigInt(64 - log)), rest = BigInt.asUintN(64 - log, u);
    return rest < threshold[column] ? column : alias[column];
  }
}

function wrongSum(owner) {
  return new Refusal("integers", { owner, name: "law", wanted: "positive rows that sum to 2**64", got: "another row" });
}

function listOf(law, name, owner, length) {
  const list = law[name];
  if (!Array.isArray(list) || list.length !== length) {
    throw new Refusal("integers", { owner, name, wanted: `a list of ${length}`, got: shown(list) });
  }
  return list;
}

/** A small law given row by row. */
function readRows(law, inputs, owner) {
  exactly(law, owner, ["law", "rows"], "table");
  const rows = listOf(law, "rows", owner, inputs);
  const reports = Array.isArray(rows[0]) ? rows[0].length : 0;
  if (reports < 2) throw new Refusal("integers", { owner, name: "rows", wanted: "rows of two or more", got: shown(rows[0]) });
  const weights = rows.map((_, x) => listOf(rows, x, owner, reports).map((_, y) => bigInteger(rows[x], y, owner)));
  if (weights.some(row => row.reduce((sum, w) => sum + w) !== WORD)) throw wrongSum(owner);
  return [x => weights[x], reports];
}

/** Two reports; report 1 has weight first + step x, a straight line in the input. */
function readRamp(law, inputs, owner) {
  exactly(law, owner, ["law", "first", "step"], "table");
  const first = bigInteger(law, "first", owner), step = bigInteger(law, "step", owner, -WORD, WORD);
  const last = first + step * BigInt(inputs - 1);
  if (last < 1n || last >= WORD) {
    throw new Refusal("integers", { owner, name: "step", wanted: "a line that stays below 2**64", got: `${step}` });
  }
  return [x => [WORD - first - step * BigInt(x), first + step * BigInt(x)], 2];
}

/** P[y | x] proportional to g[|y - x|]: the weight is the high word of g[|y - x|] r[x], times 2**shift. */
function readShifts(law, inputs, owner) {
  exactly(law, owner, ["law", "g", "r", "shift"], "table");
  if (inputs > MAX_CELLS) {
    throw new Refusal("integers", { owner, name: "g", wanted: `at most ${MAX_CELLS} integers`, got: `${inputs}` });
  }
  const shift = BigInt(smallInteger(law, "shift", owner, 0, 63));
  const [g, r] = ["g", "r"].map(name => {
    const list = listOf(law, name, owner, inputs);
    return list.map((_, i) => bigInteger(list, i, owner));
  });
  const row = x => {
    const weights = g.map((_, y) => {
      const weight = BigInt.asUintN(64, ((g[Math.abs(y - x)] * r[x]) >> 64n) << shift);
      return weight || 1n; // no report is impossible
    });
    // What flooring loses goes to y = x, so that the row sums to 2**64.
    weights[x] = BigInt.asUintN(64, weights[x] - weights.reduce((sum, w) => sum + w));
    return weights;
  };
  return [row, inputs];
}

/** Thresholds and aliases of one row; columns are padded to a power of two. Heavy columns fill up light ones, in order. */
function aliasOf(weights) {
  const log = Math.max(1, bitLength(weights.length - 1)), columns = 2 ** log, share = 1n << BigInt(64 - log);
  const w = weights.concat(Array(columns - weights.length).fill(0n));
  const threshold = Array(columns).fill(share), alias = w.map((_, column) => column);
  const all = [...alias], light = all.filter(c => w[c] <= share), heavy = all.filter(c => w[c] > share);
  let next = 0, left = heavy.length ? w[heavy[0]] : 0n;
  for (let at = 0; at < heavy.length; ) {
    const current = heavy[at];
    if (left > share && next < light.length) { // it tops a light column up ...
      const c = light[next++];
      threshold[c] = w[c];
      alias[c] = current;
      left -= share - w[c];
      continue;
    }
    threshold[current] = left < share ? left : share; // ... or, light itself by now, is topped up by the next heavy one
    if (++at < heavy.length) {
      alias[current] = heavy[at];
      left = BigInt.asUintN(64, w[heavy[at]] - (share - left));
    }
  }
  return { threshold, alias, log };
}
