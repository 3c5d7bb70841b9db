// The integers of a law, as a plan carries them: texts, since JSON's numbers stop at 2**53. They are read, never
// computed again: this client knows no exponential, so it cannot round one differently.

import { Refusal, shown } from "./refusal.js";

export const WORD = 1n << 64n;

/** An integer that is written as text, from `low` to `high`. */
export function bigInteger(law, name, owner, low = 1n, high = WORD - 1n) {
  const text = law[name];
  if (typeof text === "string" && /^(0|-?[1-9][0-9]{0,39})$/.test(text)) {
    const value = BigInt(text);
    if (value >= low && value <= high) return value;
  }
  throw new Refusal("integers", { owner, name, wanted: `the text of an integer from ${low} to ${high}`, got: shown(text) });
}

/** An integer that is written as a number. */
export function smallInteger(law, name, owner, low, high) {
  const value = law[name];
  if (Number.isSafeInteger(value) && value >= low && value <= high) return value;
  throw new Refusal("integers", { owner, name, wanted: `a whole number from ${low} to ${high}`, got: shown(value) });
}

/** Refuse a law of another kind, or with other fields than these. */
export function exactly(law, owner, names, kind = undefined) {
  const fields = law !== null && typeof law === "object" && !Array.isArray(law) ? Object.keys(law).sort() : null;
  if (fields === null || fields.join() !== [...names].sort().join()) {
    throw new Refusal("integers", { owner, name: "law", wanted: `the fields ${names.join(", ")}`, got: shown(fields ?? law) });
  }
  if (law.law !== kind) throw new Refusal("law", { owner, got: shown(law.law), wanted: kind });
}

/** The least number of bits that writes n. */
export function bitLength(n) {
  return BigInt(n).toString(2).replace(/^0$/, "").length; // not by Math.log2, whose last digit browsers may choose
}
