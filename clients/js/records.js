// Laws of records: several answers, a report for each of them, null where nothing is shown. The same as
// src/murmure/laws/records.py. A draw of columns is public: its word may come from the collector.

import { BitString, BitsLaw, hexOfBits, packedWords, setBit } from "./bits.js";
import { Cut } from "./cut.js";
import { exactly, smallInteger } from "./integers.js";
import { readLaw } from "./laws.js";
import { Refusal, shown } from "./refusal.js";

export function readParts(law, sizes, owner, read) {
  if (!Array.isArray(law.parts) || law.parts.length !== sizes.length) {
    throw new Refusal("integers", { owner, name: "parts", wanted: `a list of ${sizes.length}`, got: shown(law.parts) });
  }
  return law.parts.map((part, i) => read(part, sizes[i], `${owner}.parts[${i}]`));
}

/** Every attribute randomised separately, all of them shown. */
export class JointLaw {
  constructor(law, sizes, owner) {
    exactly(law, owner, ["law", "parts"], "joint");
    this.parts = readParts(law, sizes, owner, readLaw);
    this.strings = stringsOf(this.parts);
    this.publicCoins = this.parts.some(part => part.publicCoins);
  }

  draw(x, words) {
    const report = Array(this.parts.length);
    // Strings are drawn first, then the other attributes: the order decides which words are whose.
    for (const { members, string } of this.strings) {
      const all = string.flip(words.take(string.words, string.deep));
      members.forEach((i, place) => {
        const bits = string.cut(all, place);
        setBit(bits, x[i], words.take(1).big(0) < this.parts[i].yesTrue);
        report[i] = hexOfBits(bits, this.parts[i].inputs);
      });
    }
    this.parts.forEach((part, i) => (report[i] ??= part.draw(x[i], words)));
    return report;
  }
}

/** Unary attributes with the same coins, where sharing words saves some. */
function stringsOf(parts) {
  const alike = new Map();
  parts.forEach((part, i) => {
    if (!(part instanceof BitsLaw)) return;
    const coins = `${part.yesTrue} ${part.yesFalse}`;
    alike.set(coins, [...(alike.get(coins) ?? []), i]);
  });
  return [...alike.values()]
    .map(members => {
      const sizes = members.map(i => parts[i].inputs);
      return { members, sizes, string: new BitString(sizes, parts[members[0]].yesFalse) };
    })
    .filter(({ sizes, string }) => string.width < sizes.reduce((sum, size) => sum + packedWords(size), 0));
}

/** A public draw says which attributes are shown. */
export class SampledLaw {
  constructor(law, sizes, owner) {
    exactly(law, owner, ["law", "draw", "parts"], "sampled");
    exactly(law.draw, `${owner}.draw`, ["take", "in_turn", "cut"]);
    this.parts = readParts(law, sizes, owner, readLaw);
    this.take = smallInteger(law.draw, "take", `${owner}.draw`, 1, sizes.length);
    this.inTurn = law.draw.in_turn;
    if (typeof this.inTurn !== "boolean") {
      throw new Refusal("integers", { owner, name: "in_turn", wanted: "true or false", got: shown(this.inTurn) });
    }
    const even = law.draw.cut === null, sets = choose(sizes.length, this.take);
    if ((!even && (this.take !== 1 || this.inTurn)) || (!this.inTurn && sets > 2 ** 32)) {
      throw new Refusal("integers", { owner, name: "draw", wanted: "a draw of at most 2**32 sets", got: shown(law.draw) });
    }
    this.publicCoins = !this.inTurn || this.parts.some(part => part.publicCoins);
    this.sets = this.inTurn ? null : even ? new Cut(sets) : Cut.read(law.draw.cut, sets, `${owner}.draw.cut`);
  }

  draw(x, words, number) {
    const shown = this.inTurn ? this.turn(number) : this.unrank(this.sets.pick(words.takePublic(1).big(0)));
    return this.parts.map((part, i) => (shown[i] ? part.draw(x[i], words) : null));
  }

  /** What the person with this public number shows: columns are taken in turn. */
  turn(number) {
    if (!Number.isSafeInteger(number) || number < 0 || number > 2 ** 40) {
      throw new Refusal("number", { wanted: "a whole number from 0 on", got: shown(number) });
    }
    const d = this.parts.length, first = (number * this.take) % d;
    return this.parts.map((_, c) => (c - first + d) % d < this.take);
  }

  /** Which attributes the set of this number holds: sets are numbered as itertools.combinations lists them. */
  unrank(number) {
    let left = this.take;
    return this.parts.map((_, c) => {
      const withC = left ? choose(this.parts.length - c - 1, left - 1) : 0, shows = number < withC;
      if (shows) left -= 1;
      else number -= withC;
      return shows;
    });
  }
}

/** n over m, exactly: a draw has at most 2**32 sets, and beyond 2**53 it is refused anyway. */
function choose(n, m) {
  let out = 1n;
  for (let i = 1; i <= m; i++) out = (out * BigInt(n - m + i)) / BigInt(i);
  return m > n ? 0 : Number(out);
}
