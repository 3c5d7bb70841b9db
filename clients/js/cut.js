// One of k codes, independent of the answer: random words are cut into k runs. The same as src/murmure/laws/cut.py.

import { WORD, bigInteger, exactly, smallInteger } from "./integers.js";
import { Refusal, shown } from "./refusal.js";

export class Cut {
  constructor(size, ends = null) {
    this.size = size;
    this.step = (WORD + BigInt(size) - 1n) / BigInt(size); // the run of every code but the last, in an even cut
    this.ends = ends;
  }

  static read(law, size, owner) {
    exactly(law, owner, ["size", "counts"]);
    smallInteger(law, "size", owner, size, size);
    if (law.counts === null) return new Cut(size);
    if (!Array.isArray(law.counts) || law.counts.length !== size) {
      throw new Refusal("integers", { owner, name: "counts", wanted: `a list of ${size}`, got: shown(law.counts) });
    }
    let total = 0n;
    const ends = law.counts.map((_, i) => (total += bigInteger(law.counts, i, owner, 1n, WORD)));
    if (total !== WORD) {
      throw new Refusal("integers", { owner, name: "counts", wanted: "runs that sum to 2**64", got: `${total}` });
    }
    return new Cut(size, ends);
  }

  /** A word falls to the first code whose run ends above it. */
  pick(u) {
    return this.ends === null ? Number(u / this.step) : this.ends.findIndex(end => u < end);
  }
}
