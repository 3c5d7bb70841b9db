// Runs the vectors of tests/vectors/browser.json, in node and inside a page. Every function returns a list of what is
// wrong, in words; an empty list is good.

import { readDomain } from "./domains.js";
import { digestOf } from "./json_text.js";
import { readLaw } from "./laws.js";
import { MemoisedClient } from "./memoised.js";
import { Plan } from "./murmure.js";
import { GivenWords } from "./words.js";

const DEEP_SEED = 1000000, u64 = n => BigInt.asUintN(64, n);

/** SplitMix64, as in tests/vectors/make_browser.py. */
function stream(seed, count) {
  return Array.from({ length: count }, (_, i) => {
    let z = u64(BigInt(seed) * 0xd1342543de82ef95n + BigInt(i + 1) * 0x9e3779b97f4a7c15n);
    z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return (z ^ (z >> 31n)).toString(16).padStart(16, "0");
  });
}

function wordsOf({ seed, words: [mainCount, deepCount], main = {}, planes = [], coins = null }) {
  const words = stream(seed, mainCount), deep = stream(seed + DEEP_SEED, deepCount);
  for (const [at, deepAt, width, value] of planes) {
    for (let plane = 0; plane < 64; plane++) {
      const bit = (BigInt(`0x${value}`) >> BigInt(63 - plane)) & 1n, word = bit ? "ffffffffffffffff" : "0000000000000000";
      const [list, start] = plane < 16 ? [words, at + plane * width] : [deep, deepAt + (plane - 16) * width];
      list.fill(word, start, start + width);
    }
  }
  for (const [at, word] of Object.entries(main)) words[at] = word;
  return new GivenWords(words, deep, coins);
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What happens: the value, or the code of the refusal. */
function outcome(work) {
  try {
    return work();
  } catch (error) {
    return `refused: ${error.code ?? `${error.name} ${error.message}`}`;
  }
}

function caseFails(plan, one) {
  return !same(outcome(() => plan.reportFrom(one.answers, wordsOf(one), one.number ?? 0).report), one.report);
}

export function checkPlan({ name, text, digest, cases }) {
  const plan = new Plan(text), wrong = plan.digest === digest ? [] : [`${name}: digest ${plan.digest}`];
  return wrong.concat(
    cases.flatMap((one, i) => {
      const got = outcome(() => plan.reportFrom(one.answers, wordsOf(one), one.number ?? 0).report);
      return same(got, one.report) ? [] : [`${name}, case ${i}: ${JSON.stringify(got)}, Python has ${JSON.stringify(one.report)}`];
    }),
  );
}

/** The same plan with one integer of its law changed: is it refused, or does a case fail? */
export function isNoticed(vector, path, value) {
  const document = JSON.parse(vector.text);
  let at = document;
  for (const step of path.slice(0, -1)) at = at[step];
  at[path.at(-1)] = value;
  let plan;
  try {
    plan = new Plan(JSON.stringify(document));
  } catch {
    return true;
  }
  return vector.cases.some(one => caseFails(plan, one));
}

export function checkDomain({ domain: json, answers, codes }) {
  const domain = readDomain(json, "answer");
  return answers.flatMap((answer, i) => {
    const got = outcome(() => domain.encode(answer)), wanted = typeof codes[i] === "string" ? `refused: ${codes[i]}` : codes[i];
    return got === wanted ? [] : [`${JSON.stringify(json)}, ${JSON.stringify(answer)}: ${got}, Python has ${wanted}`];
  });
}

export function checkBad({ name, text, code, answers, options }) {
  const got = outcome(() => {
    const plan = new Plan(text);
    return options === undefined ? "taken" : plan.report(answers, options);
  });
  return got === `refused: ${code}` ? [] : [`${name}: ${JSON.stringify(got)}, wanted the refusal ${code}`];
}

export function checkMemoised({ text, key, question, reports }) {
  const bytes = Uint8Array.from(key.match(/../g), pair => parseInt(pair, 16)), plan = new Plan(text);
  return reports.flatMap(one => {
    const client = new MemoisedClient(plan, { key: bytes, question, values: 1 });
    const got = outcome(() => client.reportFrom(one.answer, wordsOf(one)).report);
    return got === one.report ? [] : [`${question}, ${JSON.stringify(one.answer)}: ${got}, Python has ${one.report}`];
  });
}

/** What a report shows of its public coins: which columns, and of a hash all but the bin. */
function shows(plan, report) {
  const laws = plan.ofRecords ? plan.law.parts : [plan.law];
  return (plan.ofRecords ? report : [report]).map((cell, i) => cell && (laws[i].constructor.name === "HashedLaw" ? cell.slice(0, -4) : "shown"));
}

/** Given coins and secret words make the report that Python makes; bad coins are refused; other coins show other things. */
export function checkCoins({ name, text, digest, cases, bad, others }) {
  const plan = new Plan(text), wrong = plan.digest === digest && plan.coins === "collector" ? [] : [`${name}: digest ${plan.digest}`];
  cases.forEach((one, i) => {
    const got = outcome(() => plan.reportFrom(one.answers, wordsOf(one), one.number ?? 0).report);
    if (!same(got, one.report)) wrong.push(`${name}, case ${i}: ${JSON.stringify(got)}, Python has ${JSON.stringify(one.report)}`);
  });
  bad.forEach(({ coins, answers, why }) => {
    const got = outcome(() => plan.report(answers, { coins, number: cases[0].number ?? 0 }));
    if (got !== "refused: coins") wrong.push(`${name}, ${why}: ${JSON.stringify(got)}`);
  });
  others.forEach(({ coins, answers, report, why, number = 0 }) => {
    const honest = plan.report(answers, { coins, number }).report;
    if (same(shows(plan, honest), shows(plan, report))) wrong.push(`${name}, ${why}: the report shows these coins`);
  });
  return wrong;
}

/** A vector of tests/vectors/laws.json: 14 inputs of one law; bits are packed into words of 64, hashes into 16. */
export function checkLaw({ name, inputs, integers, x, main, deep, reports }) {
  const law = readLaw(integers, inputs, name);
  const bytes = (text, length) => text.match(/../g).reverse().join("").slice(0, length);
  return x.flatMap((code, i) => {
    const words = new GivenWords(main[i], deep?.[i] ?? []), got = law.draw(code, words), wanted = reports[i];
    words.finish();
    const octets = Array.isArray(wanted)
      ? wanted.map(word => bytes(typeof word === "string" ? word : word.toString(16).padStart(4, "0"))).join("").slice(0, got.length)
      : wanted;
    return got === octets ? [] : [`${name}, row ${i}: ${got}, Python has ${octets}`];
  });
}

export function checkDigest({ text, digest }) {
  return digestOf(text) === digest ? [] : [`digest of ${text.slice(0, 60)}: ${digestOf(text)}, wanted ${digest}`];
}

/** Everything; for a page. */
export function checkAll({ plans, domains, bad, memoised, coins }) {
  return [
    ...plans.flatMap(checkPlan),
    ...domains.flatMap(checkDomain),
    ...bad.flatMap(checkBad),
    ...memoised.flatMap(checkMemoised),
    ...coins.flatMap(checkCoins),
  ];
}
