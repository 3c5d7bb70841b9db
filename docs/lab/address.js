// What the address says: #panel?name=value&..., with lang=en for English. Figures of the lectures link here.
//
// Nothing in an address is trusted: what is no number, out of range or unknown is replaced, and the page says so.

import { parse, plain } from "./numbers.js";

const EPSILON = { min: 0.01, max: 10, start: 1, log: true };
const PEOPLE = { min: 1, max: 1e8, start: 1000, log: true, whole: true };
const SHARE = { min: 0, max: 1, start: 0.3, step: 0.01 };

/** The parameters of every panel, in the order of their controls. */
export const PANELS = {
  tree: {
    truth: { min: 0.01, max: 0.99, start: 0.5, step: 0.01 },
    yes: { min: 0, max: 1, start: 0.5, step: 0.01 },
    f: SHARE,
    n: PEOPLE,
  },
  grr: {
    epsilon: EPSILON,
    k: { min: 2, max: 60, start: 9, step: 1, whole: true },
    x: { min: 1, max: 60, start: 6, step: 1, whole: true, atMost: "k" },
    f: SHARE,
    n: PEOPLE,
  },
  laws: {
    law: { choices: ["laplace", "staircase"] },
    form: { choices: ["right", "redrawn", "printed"] },
    gamma: { choices: ["absolute", "variance"] },
    epsilon: EPSILON,
    x: { min: 0, max: 1, start: 0.3, step: 0.01 },
  },
  varstar: {
    epsilon: EPSILON,
    k: { min: 2, max: 4096, start: 128, log: true, whole: true },
    n: { ...PEOPLE, start: 100000 },
    f: { ...SHARE, start: 0 },
  },
  records: {
    epsilon: EPSILON,
    d: { min: 2, max: 10, start: 3, step: 1, whole: true },
    k: { min: 2, max: 100, start: 5, log: true, whole: true },
    n: { ...PEOPLE, start: 10000 },
    f: { ...SHARE, start: 0.2 },
    budget: { choices: ["record", "paper"] },
  },
};
export const LANGUAGES = ["fr", "en"];

/** { panel, values, lang, notices }: a complete state, whatever the address holds. */
export function read(hash, query = "") {
  const [, name, search] = /^#?([^?]*)\??(.*)$/s.exec(hash);
  const notices = [];
  const panel = Object.hasOwn(PANELS, name) ? name : "tree";
  if (name && panel !== name) notices.push({ why: "panel", given: name });
  const given = new Map([...new URLSearchParams(search)].map(([key, value]) => [key.toLowerCase(), value]));
  const asked = given.get("lang") ?? new URLSearchParams(query).get("lang") ?? LANGUAGES[0];
  if (!LANGUAGES.includes(asked)) notices.push({ why: "choice", key: "lang", given: asked, used: LANGUAGES[0] });
  const lang = LANGUAGES.includes(asked) ? asked : LANGUAGES[0];
  given.delete("lang");
  const values = {};
  for (const [key, parameter] of Object.entries(PANELS[panel])) {
    values[key] = given.has(key) ? checked(key, parameter, given.get(key), values, notices) : begin(parameter, values);
    given.delete(key);
  }
  for (const key of given.keys()) notices.push({ why: "unknown", given: key });
  return { panel, values, lang, notices };
}

const begin = (parameter, values) =>
  parameter.choices ? parameter.choices[0] : Math.min(parameter.start, values[parameter.atMost] ?? Infinity);

/** What may be used of a text for a parameter; a notice is added when it is not what was given. */
export function checked(key, parameter, text, values, notices) {
  if (parameter.choices) {
    if (parameter.choices.includes(text)) return text;
    notices.push({ why: "choice", key, given: text, used: parameter.choices[0] });
    return parameter.choices[0];
  }
  const number = parse(text);
  if (Number.isNaN(number)) {
    const used = begin(parameter, values);
    notices.push({ why: "number", key, given: text, used });
    return used;
  }
  const max = Math.min(parameter.max, values[parameter.atMost] ?? Infinity);
  const inRange = Math.min(max, Math.max(parameter.min, number));
  if (inRange !== number) notices.push({ why: "range", key, given: text, used: inRange, min: parameter.min, max });
  const used = parameter.whole ? Math.round(inRange) : inRange;
  if (used !== inRange) notices.push({ why: "whole", key, given: text, used });
  return used;
}

/** The address of a state. */
export function write(panel, values, lang) {
  const text = value => (typeof value === "number" ? plain(value) : value);
  const pairs = Object.entries(values).map(([key, value]) => `${key}=${text(value)}`);
  return `#${panel}?${[...pairs, `lang=${lang}`].join("&")}`;
}
