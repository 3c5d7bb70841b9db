// A public random hash sends k values to g bins; the bin is then randomised. The same as src/murmure/laws/hashed.py.
//   h(v) = b XOR (a_i for every bit i that is set in v)

import { bitLength, exactly, smallInteger } from "./integers.js";
import { Refusal } from "./refusal.js";
import { WindowLaw } from "./window.js";

export class HashedLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "seed_bits", "bins"], "hashed");
    this.inputs = inputs;
    const bins = this.bins = new WindowLaw(law.bins, law.bins?.outputs, `${owner}.bins`), g = bins.outputs;
    const power = g === 2 ** (bitLength(g) - 1), bits = power ? bitLength(g) - 1 : Math.min(16, bitLength(g) + 9);
    this.seedBits = smallInteger(law, "seed_bits", owner, bits, bits);
    if (!bins.plain || g > 1 << 14) {
      throw new Refusal("integers", { owner, name: "bins", wanted: "at most 16384 bins, each a window of one", got: `${g}` });
    }
    this.valueBits = bitLength(inputs - 1);
    this.publicCoins = true;
    this.seedWords = Math.ceil((this.valueBits + 1) / 4); // four 16-bit seeds a word
  }

  draw(x, words) {
    // The seeds are public, the word of the bins is not: words of seeds may come from the collector.
    const { halves } = words.takePublic(this.seedWords), mask = 2 ** this.seedBits - 1;
    const report = Array.from({ length: this.valueBits + 1 }, (_, i) => (halves[i >> 1] >>> (16 * (i & 1))) & mask);
    const hash = report.reduce((h, a, i) => (i === 0 || Math.floor(x / 2 ** (i - 1)) % 2 ? h ^ a : h), 0);
    const bin = Math.floor((hash * this.bins.outputs) / 2 ** this.seedBits);
    report.push(this.bins.draw(bin, words));
    // as it travels: 16-bit words, the low byte first
    return report.map(a => (((a & 255) << 8) | (a >> 8)).toString(16).padStart(4, "0")).join("");
  }
}
