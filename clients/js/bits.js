// Independent bits, packed 32 to a lane: bit x is 1 with probability yes_true / 2**64, every other with yes_false / 2**64.
// The same as src/murmure/laws/bits.py and strings.py.
//
// A bit is a comparison of 64 random bits with a threshold, most significant first, made for 32 bits at once: plane j
// holds random bit j of 32 comparisons. The first random bit that differs from the threshold's decides. After the 16
// planes of the main words one word of 64 bits in a thousand is undecided, and reads deep words.

import { bigInteger, exactly } from "./integers.js";

export const PLANES = 16, DEEP_PLANES = 48;

/** Words of 64 bits that hold this many bits. */
export const packedWords = bits => Math.ceil(bits / 64);

/** The bits of a threshold, most significant first. */
const planesOf = threshold => Array.from({ length: 64 }, (_, plane) => Number((threshold >> BigInt(63 - plane)) & 1n));

/** `width` words of coins that show 1 with probability threshold / 2**64, as lanes of 32 bits. */
export function flip(threshold, width, range, at = 0, deepAt = 0) {
  const bits = planesOf(threshold), lanes = new Uint32Array(2 * width), { halves } = range;
  for (let word = 0; word < width; word++) {
    const yes = [0, 0], open = [-1, -1];
    const step = (half, plane, random) => {
      const ones = open[half] & random;
      if (bits[plane]) { // random 0 below threshold 1: yes
        yes[half] |= open[half] ^ ones;
        open[half] = ones;
      } else { // random 1 above threshold 0: no
        open[half] ^= ones;
      }
    };
    for (let plane = 0; plane < PLANES; plane++) {
      const place = 2 * (at + plane * width + word);
      step(0, plane, halves[place]);
      step(1, plane, halves[place + 1]);
    }
    for (let plane = PLANES; plane < 64 && (open[0] | open[1]); plane++) {
      const [low, high] = range.deep(deepAt + (plane - PLANES) * width + word);
      step(0, plane, low);
      step(1, plane, high);
    } // equal to the last bit means not below: no
    lanes[2 * word] = yes[0];
    lanes[2 * word + 1] = yes[1];
  }
  return lanes;
}

export function setBit(lanes, x, yes) {
  const bit = 1 << (x & 31);
  lanes[x >> 5] = yes ? lanes[x >> 5] | bit : lanes[x >> 5] & ~bit;
}

/** The bits offset .. offset + size - 1, from bit 0 on. */
export function cutBits(lanes, offset, size) {
  const out = new Uint32Array(2 * packedWords(size));
  for (let bit = 0; bit < size; bit++) {
    const from = offset + bit;
    if ((lanes[from >> 5] >>> (from & 31)) & 1) setBit(out, bit, true);
  }
  return out;
}

/** Packed bits as they travel: hexadecimal, bit v is bit v % 8 of byte v / 8. What lies beyond `size` is left out. */
export function hexOfBits(lanes, size) {
  let out = "";
  for (let byte = 0; 8 * byte < size; byte++) {
    const value = (lanes[byte >> 2] >>> (8 * (byte & 3))) & (size - 8 * byte < 8 ? (1 << (size - 8 * byte)) - 1 : 255);
    out += value.toString(16).padStart(2, "0");
  }
  return out;
}

export class BitsLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "yes_true", "yes_false"], "bits");
    this.inputs = inputs;
    this.yesTrue = bigInteger(law, "yes_true", owner);
    this.yesFalse = bigInteger(law, "yes_false", owner);
    this.width = packedWords(inputs);
    this.words = PLANES * this.width + 1; // the last word decides the bit of the true value
    this.deep = DEEP_PLANES * this.width;
  }

  draw(x, words) {
    return hexOfBits(this.lanes(x, words.take(this.words, this.deep)), this.inputs);
  }

  lanes(x, range) {
    const out = flip(this.yesFalse, this.width, range);
    setBit(out, x, range.big(this.words - 1) < this.yesTrue);
    return out;
  }
}

/** Bits drawn once and kept, then each kept bit randomised again for every report. */
export class ChainedBitsLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "permanent", "yes_one", "yes_zero"], "chained bits");
    this.permanent = new BitsLaw(law.permanent, inputs, `${owner}.permanent`);
    this.inputs = inputs;
    this.yesOne = bigInteger(law, "yes_one", owner);
    this.yesZero = bigInteger(law, "yes_zero", owner);
    this.instantWords = 2 * PLANES * this.permanent.width;
    this.instantDeep = 2 * DEEP_PLANES * this.permanent.width;
  }

  draw(x, words) {
    const first = this.permanent;
    const range = words.take(first.words + this.instantWords, first.deep + this.instantDeep);
    return this.instant(first.lanes(x, range), range, first.words, first.deep);
  }

  /** One report from kept bits: a coin for the kept ones and a coin for the kept zeros, at every place. */
  instant(kept, range, at = 0, deepAt = 0) {
    const { width } = this.permanent;
    const ones = flip(this.yesOne, width, range, at, deepAt);
    const zeros = flip(this.yesZero, width, range, at + PLANES * width, deepAt + DEEP_PLANES * width);
    return hexOfBits(kept.map((lane, i) => (lane & ones[i]) | (~lane & zeros[i])), this.inputs);
  }
}

/** The bits of several attributes in one string, so that short ones share words. */
export class BitString {
  constructor(sizes, yesFalse) {
    this.sizes = sizes;
    this.yesFalse = yesFalse;
    this.width = packedWords(sizes.reduce((sum, size) => sum + size, 0));
    this.words = PLANES * this.width;
    this.deep = DEEP_PLANES * this.width;
  }

  flip(range) {
    return flip(this.yesFalse, this.width, range);
  }

  /** The bits of attribute i. */
  cut(lanes, i) {
    return cutBits(lanes, this.sizes.slice(0, i).reduce((sum, size) => sum + size, 0), this.sizes[i]);
  }
}
