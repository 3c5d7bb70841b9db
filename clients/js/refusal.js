// What this client refuses, and in which words. A refusal has a code and named fields, so that a page can say it in
// another language: new sentences go into MESSAGES, and a catalogue of another language has the same codes and fields.
//
// A sentence says what is refused, whose it is, what was wanted, what came, and a way out. It never holds the answer
// itself: pages log errors, and send them to those who must not see answers. The kind of the answer has to do.

export const MESSAGES = {
  "not-a-plan": ["Plan refused: this is not a plan ({reason}).", "pass the text that Plan.to_json wrote, unchanged"],
  "version": [
    "Plan refused: this is plan version {got}, this client reads version {wanted}.",
    "load the client that belongs to the plan",
  ],
  "slots": ["Plan refused: it has parts that this client cannot read: {got}.", "load the client that belongs to the plan"],
  "no-person": [
    "Plan refused: it has no mechanism at the person, so there is nothing to send but the raw answer.",
    "ask for a plan that randomises answers where they are given",
  ],
  "curator": [
    "Plan refused: it adds noise at a curator or between parties ({got}), and a browser answers one collector only.",
    "ask for a plan with a person slot alone",
  ],
  "statistic": [
    "Plan refused: unknown statistic {got}; this client knows {wanted}.",
    "load the client that belongs to the plan",
  ],
  "weights": [
    "Plan refused: it weighs people by a public column, which reports of a browser do not carry.",
    "ask for a plan without weights, and weigh the estimates by group",
  ],
  "mechanism": [
    "Plan refused: unknown mechanism {got}; this client knows {wanted}.",
    "load the client that belongs to the plan",
  ],
  "law": ["Plan refused: {owner} cannot have the law {got}; wanted {wanted}.", "load the client that belongs to the plan"],
  "integers": [
    "Plan refused: {owner}.{name} must be {wanted}, got {got}.",
    "the plan was changed after it was written: ask for it again",
  ],
  "domain": [
    "Plan refused: {owner} must be {wanted}, got {got}.",
    "the plan was changed after it was written: ask for it again",
  ],
  "two-domains": [
    "Plan refused: the statistic asks about one domain, and the mechanism randomises another.",
    "the plan was changed after it was written: ask for it again",
  ],
  "from-data": [
    "Plan refused: the bounds or labels of {owner} were read off the data.",
    "ask for a plan whose bounds and labels are public",
  ],
  "digest": [
    "Plan refused: its digest is {got}, wanted {wanted}.",
    "the link names another plan: ask whoever sent it, and answer nothing until it is explained",
  ],
  "missing": ["{owner}: there is no answer; wanted {wanted}.", "give an answer, or do not send this form"],
  "outside": ["{owner}: the answer is {got}; wanted {wanted}.", "correct the answer"],
  "answers": ["the answers must be {wanted}, got {got}.", "name every column that is randomised, and no other"],
  "number": [
    "this plan takes columns in turn: the number of the person must be {wanted}, got {got}.",
    "report(answers, { number: 0 }) for the first person, then 1, 2 ...",
  ],
  "public-coins": [
    "Plan refused: its coins must be {wanted}, got {got}.",
    "the plan was changed after it was written: ask for it again",
  ],
  "coins": [
    "the public coins must be {wanted}, got {got}.",
    "pass those that the collector gave out, all of them and in order",
  ],
  "key": ["MemoisedClient.{name} must be {wanted}, got {got}.", "crypto.getRandomValues(new Uint8Array(32)) makes a key"],
  "not-memoised": [
    "{owner} keeps nothing from one report to the next; wanted a plan with {wanted}.",
    "Plan.report(answer) gives one report",
  ],
  "values-spent": [
    "this client has reported on {got} distinct values, the declared maximum: one more would cost a further epsilon.",
    "nothing was sent; a survey that allows more values says so, and costs more",
  ],
  "randomness": ["this client needs crypto.getRandomValues, and found none.", "use a browser of this decade"],
};

/** The template with its fields. */
export function fill(template, fields) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
}

export class Refusal extends Error {
  constructor(code, fields = {}) {
    const [what, hint] = MESSAGES[code];
    super(`${fill(what, fields)}\n  Hint: ${hint}`);
    this.name = "Refusal";
    this.code = code;
    this.fields = fields;
  }

  /** The same in another language: a catalogue is an object like MESSAGES; what it lacks stays English. */
  in(catalogue) {
    const [what, hint] = catalogue[this.code] ?? MESSAGES[this.code];
    return { what: fill(what, this.fields), hint };
  }
}

/** What something is, without saying what it holds. */
export function kindOf(value) {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isNaN(value) ? "nothing" : "a number";
  return { string: "a text", boolean: "true or false", object: "an object", bigint: "a bigint" }[typeof value] ?? typeof value;
}

/** A public value of a plan, short enough for a sentence. */
export function shown(value) {
  const text = value === undefined ? "nothing" : JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
