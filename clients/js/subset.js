// A random set of w values that holds the true one with probability keep / 2**64, otherwise uniform. The same as
// src/murmure/laws/subset.py: Floyd's algorithm, one word for the true value and one for each draw.

import { hexOfBits, packedWords, setBit } from "./bits.js";
import { bigInteger, exactly, smallInteger } from "./integers.js";

export class SubsetLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "size", "keep"], "subset");
    this.inputs = inputs;
    this.size = smallInteger(law, "size", owner, 1, inputs - 1);
    this.keep = bigInteger(law, "keep", owner);
  }

  draw(x, words) {
    const range = words.take(this.size + 1), lanes = new Uint32Array(2 * packedWords(this.inputs));
    const kept = range.big(0) < this.keep;
    if (kept) setBit(lanes, x, true);
    const others = t => (t >= x ? t + 1 : t); // the other values, skipping x
    for (let draw = 0; draw < this.size; draw++) {
      const j = this.inputs - 1 - this.size + draw;
      const value = others(Number((range.big(1 + draw) * BigInt(j + 1)) >> 64n));
      const taken = (lanes[value >> 5] >>> (value & 31)) & 1;
      // Where x was kept one value fewer is drawn: the first word is not used. A value that is taken gives its place to j.
      if (draw > 0 || !kept) setBit(lanes, taken ? others(j) : value, true);
    }
    return hexOfBits(lanes, this.inputs);
  }
}
