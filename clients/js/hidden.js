// One attribute is real and the others are fakes, and the report does not say which. The same as
// src/murmure/laws/hidden_draw.py. Nothing here is public: whoever knew the draw would know which answer is real.

import { BitString, BitsLaw, hexOfBits, setBit } from "./bits.js";
import { Cut } from "./cut.js";
import { exactly } from "./integers.js";
import { readParts } from "./records.js";
import { Refusal, shown } from "./refusal.js";
import { WindowLaw } from "./window.js";

const FIELDS = { "fake code": ["kind", "real", "fake"], "fake zeros": ["kind", "real"], "fake value": ["kind", "real", "fake"] };
const WORDS = { "fake code": 1, "fake zeros": 0, "fake value": 2 };

function readPart(part, size, owner) {
  const kind = part?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(FIELDS, kind)) {
    throw new Refusal("law", { owner, got: shown(kind), wanted: Object.keys(FIELDS).join(" or ") });
  }
  exactly(part, owner, FIELDS[kind]);
  const real = new (kind === "fake code" ? WindowLaw : BitsLaw)(part.real, size, `${owner}.real`);
  if (kind === "fake code" && !real.plain) {
    throw new Refusal("integers", { owner, name: "real", wanted: "a window of one", got: shown(part.real) });
  }
  return { kind, real, fake: "fake" in part ? Cut.read(part.fake, size, `${owner}.fake`) : null };
}

export class HiddenLaw {
  constructor(law, sizes, owner) {
    exactly(law, owner, ["law", "chances", "parts"], "hidden");
    this.parts = readParts(law, sizes, owner, readPart);
    this.chances = Cut.read(law.chances, sizes.length, `${owner}.chances`);
    this.unary = this.parts.filter(({ kind }) => kind !== "fake code");
    if (new Set(this.unary.map(({ real }) => `${real.yesTrue} ${real.yesFalse}`)).size > 1) {
      throw new Refusal("integers", { owner, name: "parts", wanted: "the same coins for all bits", got: "several" });
    }
    if (this.unary.length) {
      this.string = new BitString(this.unary.map(({ real }) => real.inputs), this.unary[0].real.yesFalse);
    }
    this.zeros = this.parts.some(({ kind }) => kind === "fake zeros");
  }

  draw(x, words) {
    // First all words, in the order in which Python reserves them.
    const tag = this.chances.pick(words.take(1).big(0));
    const ranges = this.parts.map(({ kind }) => (WORDS[kind] ? words.take(WORDS[kind]) : null));
    const string = this.unary.length ? this.string.flip(words.take(this.string.words, this.string.deep)) : null;
    const trueBit = this.zeros && words.take(1).big(0) < this.unary[0].real.yesTrue;

    return this.parts.map((part, i) => {
      if (part.kind === "fake code") { // the same word makes the real code and the fake one: one of them is reported
        const u = ranges[i].big(0), real = part.real.pick(x[i], u), fake = part.fake.pick(u);
        return tag === i ? real : fake;
      }
      const bits = this.string.cut(string, this.unary.indexOf(part));
      if (part.kind === "fake zeros") {
        if (tag === i) setBit(bits, x[i], trueBit);
      } else {
        const fake = part.fake.pick(ranges[i].big(1));
        setBit(bits, tag === i ? x[i] : fake, ranges[i].big(0) < part.real.yesTrue);
      }
      return hexOfBits(bits, part.real.inputs);
    });
  }
}
