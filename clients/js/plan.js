// A plan: what is asked, and how the answer is randomised before it leaves this device. The plan's JSON carries the
// integers of the law; this client reads them, draws words, and returns the report that Python would return.

import { readDomain } from "./domains.js";
import { HiddenLaw } from "./hidden.js";
import { digestOf } from "./json_text.js";
import { readLaw } from "./laws.js";
import { MECHANISMS, RECORDS, STATISTICS } from "./mechanisms.js";
import { JointLaw, SampledLaw } from "./records.js";
import { Refusal, shown } from "./refusal.js";
import { Schema } from "./schema.js";
import { FreshWords, withWords } from "./words.js";

const VERSION = 1;
const SLOTS = ["murmure", "statistic", "person", "parties", "curator", "unit", "rows_per_person", "relation", "missing", "coins"];
const RECORD_LAWS = { joint: JointLaw, sampled: SampledLaw, hidden: HiddenLaw };

const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value);

export class Plan {
  /** From the text of Plan.to_json. `digest`: the one that is expected, from a link that the server did not write. */
  constructor(text, { digest = null } = {}) {
    const json = parse(text);
    this.digest = digestOf(text);
    if (digest !== null && digest !== this.digest) throw new Refusal("digest", { wanted: digest, got: this.digest });
    check(json);
    const { person, statistic } = json;
    this.mechanism = person.type;
    this.epsilon = person.epsilon ?? null; // what the plan says; the integers decide
    this.ofRecords = Object.hasOwn(RECORDS, person.type);
    if (JSON.stringify(person.domain) !== JSON.stringify(statistic.domain)) throw new Refusal("two-domains");
    if (this.ofRecords) {
      if (person.domain?.type !== "Schema") {
        throw new Refusal("domain", { owner: person.type, wanted: "about a Schema", got: shown(person.domain?.type) });
      }
      this.domain = new Schema(person.domain, person.type);
      this.law = readRecordLaw(person, this.domain.sizes);
    } else {
      this.domain = readDomain(person.domain, person.type);
      this.law = readLaw(person.law, this.domain.size, person.type, MECHANISMS[person.type]);
    }
    this.coins = coinsOf(json, this.law); // who draws the public words: "person", or "collector", who gives them out
    this.text = text;
  }

  /**
   * One report: { plan, report }, to be sent as it is. For one question `answers` is the answer; for several it is an
   * object with an answer for each column. Every call draws again and costs epsilon again: keep the report, send it
   * until it is acknowledged, and never call this twice for one answer.
   *
   * coins: public words that the collector gave out; where the plan declares them nothing is reported without them.
   * number: the public number of the person, for columns in turn.
   */
  report(answers, { coins = null, number } = {}) {
    return this.reportFrom(answers, new FreshWords(coins), number);
  }

  /** The same from given words, for vectors: whoever has a report and its words has the answer. */
  reportFrom(answers, words, number) {
    if (this.coins === "collector" && words.coins === null) {
      throw new Refusal("coins", { wanted: "those that the collector gave out", got: "none" });
    }
    const x = this.domain.encode(answers); // everything that can be refused is refused before a word is drawn
    return { plan: this.digest, report: withWords(words, () => this.law.draw(x, words, number)) };
  }
}

function parse(text) {
  if (typeof text !== "string") throw new Refusal("not-a-plan", { reason: `${typeof text} instead of text` });
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Refusal("not-a-plan", { reason: "it is not JSON" });
  }
  if (!isObject(json) || !Object.hasOwn(json, "murmure")) {
    throw new Refusal("not-a-plan", { reason: "it has no version" });
  }
  return json;
}

function check(json) {
  if (json.murmure !== VERSION) throw new Refusal("version", { got: shown(json.murmure), wanted: VERSION });
  const unknown = Object.keys(json).filter(name => !SLOTS.includes(name));
  if (unknown.length) throw new Refusal("slots", { got: unknown.join(", ") });
  const { person = null, statistic, curator = null, parties = null, relation = null, missing = null } = json;
  if (curator !== null || parties !== null || relation !== null || missing !== null) {
    throw new Refusal("curator", { got: shown((curator ?? parties)?.type ?? relation ?? missing) });
  }
  if (person === null) throw new Refusal("no-person");
  const names = { ...MECHANISMS, ...RECORDS };
  if (!isObject(person) || typeof person.type !== "string" || !Object.hasOwn(names, person.type)) {
    throw new Refusal("mechanism", { got: shown(person?.type ?? person), wanted: Object.keys(names).join(", ") });
  }
  if (!isObject(statistic) || !STATISTICS.includes(statistic.type)) {
    throw new Refusal("statistic", { got: shown(statistic?.type), wanted: STATISTICS.join(", ") });
  }
  if ((statistic.weights ?? null) !== null) throw new Refusal("weights");
}

/** A plan has one text, so the default is not written; a hidden draw is never given out, and a number is not a coin. */
function coinsOf(json, law) {
  if (!Object.hasOwn(json, "coins")) return "person";
  if (json.coins !== "collector" || !law.publicCoins) {
    const wanted = law.publicCoins ? '"collector", or left out' : "left out, since its reports show none";
    throw new Refusal("public-coins", { wanted, got: shown(json.coins) });
  }
  return json.coins;
}

function readRecordLaw({ type, law }, sizes) {
  const kind = law?.law, allowed = RECORDS[type];
  if (!allowed.includes(kind)) throw new Refusal("law", { owner: type, got: shown(kind), wanted: allowed.join(" or ") });
  return new RECORD_LAWS[kind](law, sizes, type);
}
