// Half of the reports are likely: those where row x + 1 of a Hadamard matrix is +1. The same as
// src/murmure/laws/hadamard.py: one word, whose low bits are a uniform report and whose others decide which half.

import { bigInteger, bitLength, exactly, smallInteger } from "./integers.js";

export class HadamardLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "order", "keep"], "hadamard");
    this.inputs = inputs;
    this.log = BigInt(bitLength(inputs));
    this.reports = smallInteger(law, "order", owner, 2 ** bitLength(inputs), 2 ** bitLength(inputs));
    this.keep = bigInteger(law, "keep", owner, 1n, (1n << (64n - this.log)) - 1n);
  }

  draw(x, words) {
    const u = words.take(1).big(0), row = BigInt(x) + 1n;
    const y = BigInt.asUintN(Number(this.log), u);
    let odd = false;
    for (let both = row & y; both; both >>= 1n) odd = odd !== Boolean(both & 1n);
    const unlikely = u >> this.log >= this.keep;
    return Number(odd !== unlikely ? y ^ (row & -row) : y); // the lowest bit of the row moves y to the other half
  }
}
