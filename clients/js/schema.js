// Several questions: the columns of a schema, in order. Public columns are not randomised, and not asked here.

import { readDomain } from "./domains.js";
import { Refusal, kindOf, shown } from "./refusal.js";

const SETTINGS = ["missing", "missing_value", "note", "public", "from_data"];
const MISSING_LABEL = "missing";

/** The names of the randomised columns, and how each answer becomes a code. */
export class Schema {
  constructor(json, owner) {
    const fields = Object.keys(json).sort().join();
    const order = json.order ?? [], columns = json.columns;
    const good = fields === "columns,order,type" && Array.isArray(order) && columns !== null && typeof columns === "object";
    if (!good || new Set(order).size !== order.length || [...order].sort().join() !== Object.keys(columns).sort().join()) {
      throw new Refusal("domain", { owner, wanted: "a schema with its columns in order", got: shown(json.order ?? fields) });
    }
    this.names = order.filter(name => columns[name]?.public !== true);
    this.known = new Set(order);
    this.domains = this.names.map(name => readColumn(name, columns[name]));
    if (!this.names.length) throw new Refusal("domain", { owner, wanted: "a schema with columns to randomise", got: "none" });
  }

  get sizes() {
    return this.domains.map(domain => domain.size);
  }

  /** Codes of an object with an answer for each randomised column. */
  encode(answers) {
    const wanted = `an object with the answers to ${this.names.join(", ")}`;
    if (answers === null || typeof answers !== "object" || Array.isArray(answers)) {
      throw new Refusal("answers", { wanted, got: kindOf(answers) });
    }
    for (const name of this.names) if (!Object.hasOwn(answers, name)) throw new Refusal("answers", { wanted, got: `no ${name}` });
    for (const name of Object.keys(answers)) if (!this.known.has(name)) throw new Refusal("answers", { wanted, got: name });
    return this.names.map((name, i) => this.domains[i].encode(answers[name]));
  }
}

/** A column is a domain and its settings; a missing answer counts as a label of its own, or as a public constant. */
function readColumn(name, fields) {
  const settings = { missing: "refuse", missing_value: null };
  const rest = { column: name };
  for (const [key, value] of Object.entries(fields ?? {})) (SETTINGS.includes(key) ? settings : rest)[key] = value;
  if (settings.from_data) throw new Refusal("from-data", { owner: name });
  const refuse = got => {
    throw new Refusal("domain", { owner: `column ${name}`, wanted: "one with a known rule for missing answers", got: shown(got) });
  };
  if (settings.missing === "refuse") return readDomain(rest, name);
  if (settings.missing === "constant") return readDomain({ ...rest, absent: settings.missing_value }, name);
  if (settings.missing !== "value" || rest.type !== "Categories") refuse(settings.missing);
  const label = settings.missing_value ?? MISSING_LABEL;
  if (Array.isArray(rest.values)) return readDomain({ ...rest, values: [...rest.values, label], absent: label }, name);
  // Numbered answers stay numbers; the label of missing ones comes after the last of them.
  const numbered = readDomain(rest, name);
  const { size } = numbered;
  const encode = answer => (numbered.meant(answer) === null ? size : numbered.encode(answer));
  return { owner: name, size: size + 1, encode, describe: () => numbered.describe() };
}
