// Random words of 64 bits. A report uses a stated number of them, in a stated order, and nothing else: so the same
// words give the same report here and in Python, and vectors can say what it must be.
//
// A word is two unsigned halves, [low, high] one after the other in a Uint32Array: bits are drawn 32 at a time, and
// only comparisons of whole words need a BigInt.
//
// Whoever has a report and its words has the answer. Words are used once, never returned, and wiped when the report is
// made. *Main* words are drawn at once; *deep* words, needed once in a thousand, when they are asked for: which ones
// are needed does not depend on the answer. *Public* words decide what a report shows anyway (which column, which hash);
// a collector can give them out so that nobody can choose a useful one.

import { Refusal, kindOf } from "./refusal.js";

const MAX_BYTES = 65536; // of one call of getRandomValues
const HEX = /^[0-9a-f]{16}$/;

/** Main words of one range, and how to get at its deep ones. */
export class Range {
  constructor(halves, deep) {
    this.halves = halves;
    this.deep = deep; // index -> [low, high]
  }

  big(index) {
    return (BigInt(this.halves[2 * index + 1]) << 32n) | BigInt(this.halves[2 * index]);
  }
}

function fresh(count) {
  const source = globalThis.crypto;
  if (typeof source?.getRandomValues !== "function") throw new Refusal("randomness");
  const halves = new Uint32Array(2 * count);
  for (let at = 0; at < halves.length; at += MAX_BYTES / 4) {
    source.getRandomValues(halves.subarray(at, Math.min(halves.length, at + MAX_BYTES / 4)));
  }
  return halves;
}

function halvesOf(hex) {
  const out = new Uint32Array(2 * hex.length);
  hex.forEach((word, i) => {
    out[2 * i] = parseInt(word.slice(8), 16);
    out[2 * i + 1] = parseInt(word.slice(0, 8), 16);
  });
  return out;
}

/** Public words that a collector gave out: 16 hexadecimal digits each, used in order and up to the last one. */
class Coins {
  constructor(texts) {
    if (!(Array.isArray(texts) && texts.every(word => typeof word === "string" && HEX.test(word)))) {
      throw new Refusal("coins", { wanted: "a list of texts of 16 hexadecimal digits", got: kindOf(texts) });
    }
    this.texts = texts;
    this.spent = 0;
  }

  take(count) {
    const given = this.texts.slice(this.spent, (this.spent += count));
    if (given.length < count) {
      throw new Refusal("coins", { wanted: `at least ${this.spent} words`, got: `${this.texts.length} of them` });
    }
    return new Range(halvesOf(given));
  }

  finish() {
    if (this.spent !== this.texts.length) {
      throw new Refusal("coins", { wanted: `${this.spent} words`, got: `${this.texts.length} of them` });
    }
  }
}

/** Words of the operating system; public ones from the collector, if it gave some out. */
export class FreshWords {
  constructor(coins = null) {
    this.coins = coins === null ? null : new Coins(coins);
    this.drawn = [];
  }

  take(main) {
    return new Range(this.draw(main), () => this.draw(1)); // each deep word is asked for once at most
  }

  draw(count) {
    const halves = fresh(count);
    this.drawn.push(halves);
    return halves;
  }

  takePublic(main) {
    return this.coins === null ? this.take(main) : this.coins.take(main);
  }

  /** Called in the end, also after an error: nothing that was drawn is left. */
  wipe() {
    for (const halves of this.drawn) halves.fill(0);
    this.drawn = [];
  }

  /** Called when the report is made: what was given must be used up. */
  finish() {
    this.coins?.finish();
  }
}

/** A report from words that nobody reads again. */
export function withWords(words, draw) {
  try {
    const report = draw(words);
    words.finish();
    return report;
  } finally {
    words.wipe();
  }
}

/** Words from a list: for test vectors only. Ranges take them in order, the deep ones from a list of their own. */
export class GivenWords {
  constructor(main, deep = [], coins = null) {
    this.coins = coins === null ? null : new Coins(coins);
    [this.main, this.deepWords] = [halvesOf(main), halvesOf(deep)];
    this.at = this.deepAt = 0;
  }

  take(main, deep = 0) {
    const [from, deepFrom, words] = [this.at, this.deepAt, this.deepWords];
    this.at += main;
    this.deepAt += deep;
    if (2 * this.at > this.main.length || 2 * this.deepAt > words.length) throw new RangeError("too few words");
    const halves = this.main.slice(2 * from, 2 * this.at);
    return new Range(halves, index => words.subarray(2 * (deepFrom + index), 2 * (deepFrom + index) + 2));
  }

  takePublic(main) {
    return this.coins === null ? this.take(main) : this.coins.take(main);
  }

  wipe() {}

  finish() {
    this.coins?.finish();
    if (2 * this.at !== this.main.length || 2 * this.deepAt !== this.deepWords.length) {
      throw new RangeError("words are left over");
    }
  }
}
