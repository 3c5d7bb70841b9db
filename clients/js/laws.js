// From the `law` of a plan's JSON to something that draws reports: one class for each kind of law of one answer.

import { BitsLaw, ChainedBitsLaw } from "./bits.js";
import { HadamardLaw } from "./hadamard.js";
import { HashedLaw } from "./hashed.js";
import { Refusal, shown } from "./refusal.js";
import { SubsetLaw } from "./subset.js";
import { TableLaw } from "./table.js";
import { TaggedLaw } from "./tagged.js";
import { WindowLaw } from "./window.js";

export const LAWS = {
  "window": WindowLaw,
  "table": TableLaw,
  "bits": BitsLaw,
  "chained bits": ChainedBitsLaw,
  "hashed": HashedLaw,
  "hadamard": HadamardLaw,
  "subset": SubsetLaw,
  "tagged": TaggedLaw,
};

/** The law of one answer with `inputs` codes, if it is one of `allowed`. */
export function readLaw(law, inputs, owner, allowed = Object.keys(LAWS)) {
  const kind = law?.law;
  if (typeof kind !== "string" || !allowed.includes(kind) || !Object.hasOwn(LAWS, kind)) {
    throw new Refusal("law", { owner, got: shown(kind), wanted: allowed.join(" or ") });
  }
  return new LAWS[kind](law, inputs, owner);
}
