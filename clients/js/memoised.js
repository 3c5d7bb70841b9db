// One person's reports to one question over time (RAPPOR): bits are drawn once from the device's key and kept, and each
// report randomises the kept bits again. The same as MemoisedClient in src/murmure/local/rappor.py.
//
// The key stays on the device. Whoever holds the key and enough reports learns the answer: the kept bits of every value
// can be computed from the key, and reports show which of them are in use. The key is in no message and no report.

import { blake2b } from "./blake2b.js";
import { parseVerbatim, pythonText } from "./json_text.js";
import { keystream } from "./keystream.js";
import { Refusal, kindOf, shown } from "./refusal.js";
import { sha256 } from "./sha256.js";
import { FreshWords, withWords } from "./words.js";

const FIELDS = { // of a domain, in the order in which Python writes them
  Categories: ["type", "values", "column", "absent", "outside"],
  Integers: ["type", "low", "high", "column", "absent", "outside"],
  Interval: ["type", "low", "high", "cells", "column", "absent", "outside"],
  Decimals: ["type", "low", "high", "places", "rounding", "column", "absent", "outside"],
  Dates: ["type", "first", "last", "unit", "column", "absent", "outside"],
};

export class MemoisedClient {
  #streamOf; // from the text of a code to the key of its kept bits; the device's key is in here, and nowhere else
  #seen;

  /**
   * key: at least 16 secret bytes, made once on this device and kept there. question: its name; two questions must not
   * share kept bits. values: how many distinct answers may be reported on over time. seen: `client.seen` of the last
   * session, which is as secret as the key.
   */
  constructor(plan, { key, question, values = 1, seen = [] }) {
    if (plan.mechanism !== "RAPPOR") throw new Refusal("not-memoised", { owner: plan.mechanism, wanted: "RAPPOR" });
    if (!(key instanceof Uint8Array) || key.length < 16) {
      throw new Refusal("key", { name: "key", wanted: "a Uint8Array of at least 16 secret bytes", got: kindOf(key) });
    }
    if (typeof question !== "string" || !question) {
      throw new Refusal("key", { name: "question", wanted: "the name of the question", got: kindOf(question) });
    }
    if (!Number.isSafeInteger(values) || values < 1) {
      throw new Refusal("key", { name: "values", wanted: "a whole number, at least 1", got: shown(values) });
    }
    const codes = Array.isArray(seen) ? new Set(seen) : null;
    if (!codes || codes.size > values || ![...codes].every(c => Number.isInteger(c) && c >= 0 && c < plan.domain.size)) {
      throw new Refusal("key", { name: "seen", wanted: `at most ${values} codes of this domain`, got: kindOf(seen) });
    }
    Object.assign(this, { plan, question, values });
    this.#seen = codes;
    this.#streamOf = blake2b(new TextEncoder().encode(aboutOf(plan, question)), sha256(key), "murmure keep 1");
  }

  /** Codes of the values reported on so far: keep them with the key, and as secret. */
  get seen() {
    return [...this.#seen].sort((a, b) => a - b);
  }

  /** One more report about this value: { plan, report }. Together with all others it costs at most the plan's epsilon. */
  report(value) {
    return this.reportFrom(value, new FreshWords());
  }

  /** The same from given words, for vectors. */
  reportFrom(value, words) {
    const { law, digest } = this.plan, kept = this.#kept(value);
    const draw = () => law.instant(kept, words.take(law.instantWords, law.instantDeep));
    return { plan: digest, report: withWords(words, draw) };
  }

  #kept(value) {
    const { domain } = this.plan;
    // An unknown answer is refused, whatever the plan does with one elsewhere: bits are kept about answers only.
    const strict = Object.assign(Object.create(Object.getPrototypeOf(domain)), domain, { outside: "refuse" });
    const x = strict.encode(value);
    if (!this.#seen.has(x) && this.#seen.size >= this.values) throw new Refusal("values-spent", { got: this.#seen.size });
    this.#seen.add(x);
    const permanent = this.plan.law.permanent;
    const stream = this.#streamOf(new TextEncoder().encode(`, ${x}]`));
    return permanent.lanes(x, keystream(stream, permanent.words));
  }
}

/** What kept bits are about, in the very text that Python hashes, up to the code of the value. */
function aboutOf(plan, question) {
  const { domain, law } = parseVerbatim(plan.text).person;
  const entries = (object, names) => ({ entries: names.filter(name => name in object).map(name => [name, object[name]]) });
  const parts = [
    { text: question },
    entries(domain, FIELDS[domain.type.text]),
    entries(law.permanent, ["law", "yes_true", "yes_false"]),
  ];
  return pythonText(parts).slice(0, -1);
}
