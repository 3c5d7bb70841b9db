// The browser's client against Python's vectors, and what vectors cannot say. Run by tests/browser_client/test_client.py.

import assert from "node:assert/strict";
import { createCipheriv, createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const load = name => import(pathToFileURL(`${process.env.CLIENT}/${name}.js`));
const read = name => JSON.parse(readFileSync(process.env[name], "utf-8"));
const { plans, domains, bad, memoised, coins: coined } = read("VECTORS");
const runner = await load("runner"), { MESSAGES, Plan, Refusal } = await load("murmure");
const { MemoisedClient } = await load("memoised"), { GivenWords } = await load("words");
const planOf = name => new Plan(plans.find(one => one.name === name).text);

for (const one of plans) test(`plan ${one.name}`, () => assert.deepEqual(runner.checkPlan(one), []));
for (const [i, one] of domains.entries()) test(`domain ${i} ${one.domain.type}`, () => assert.deepEqual(runner.checkDomain(one), []));
for (const one of bad) test(`refused: ${one.name}`, () => assert.deepEqual(runner.checkBad(one), []));
for (const [i, one] of memoised.entries()) test(`memoised ${i}`, () => assert.deepEqual(runner.checkMemoised(one), []));
for (const one of coined) test(`coins ${one.name}`, () => assert.deepEqual(runner.checkCoins(one), []));
for (const one of read("LAWS")) test(`law ${one.name}`, () => assert.deepEqual(runner.checkLaw(one), []));
test("digests of all plans", () => assert.deepEqual(read("PLANS").flatMap(runner.checkDigest), []));

/** Every array that crypto.getRandomValues fills while some work is done. */
function watched(work) {
  const real = crypto.getRandomValues, filled = [], copies = [];
  crypto.getRandomValues = array => {
    real.call(crypto, array);
    filled.push(array);
    copies.push(Array.from(array));
    return array;
  };
  try {
    return { result: work(), filled, copies };
  } finally {
    crypto.getRandomValues = real;
  }
}

const ANSWERS = { "SPL of a survey": { smoker: null, "âge": 20, region: null, cost: 1.04 } };
const answerOf = name => ANSWERS[name] ?? plans.find(one => one.name === name).cases[0].answers;

for (const { name } of plans) {
  test(`${name}: words come from the operating system, and none is left`, () => {
    const plan = planOf(name);
    const { result, filled, copies } = watched(() => plan.report(answerOf(name), { number: 0 }));
    assert.ok(filled.length > 0);
    assert.ok(filled.every(array => array.every(half => half === 0)), "words are left in memory");
    const text = inspect(plan, { depth: 20, maxArrayLength: null }) + JSON.stringify(result);
    assert.ok(copies.flat().filter(half => half > 1e6).every(half => !text.includes(String(half))));
    assert.deepEqual(Object.keys(result), ["plan", "report"]);
  });
}

test("no word is left after an error either", () => {
  const plan = planOf("SMP of hashes"), answers = { smoker: "no", "âge": 20, region: 1, cost: 1 };
  const { result, filled } = watched(() => {
    try {
      return plan.report(answers, { coins: ["ffffffffffffffff", "0000000000000000"] }); // two coins are too many
    } catch (error) {
      return error.code;
    }
  });
  assert.equal(result, "coins");
  assert.ok(filled.length > 0 && filled.every(array => array.every(half => half === 0)));
});

test("more words than one call of getRandomValues gives", () => {
  const text = plans.find(one => one.name === "OUE of 128").text.replaceAll('"values": 128', '"values": 100000');
  const { report } = new Plan(text).report(99999);
  assert.equal(report.length, 25000);
  const ones = [...report].reduce((sum, digit) => sum + parseInt(digit, 16).toString(2).replaceAll("0", "").length, 0);
  assert.ok(Math.abs(ones / 100000 - 1 / (1 + Math.E)) < 0.0085, `${ones}`); // six standard errors: fails once in 5e8 runs
});

test("fresh reports follow the law", () => { // six standard errors: fails once in 5e8 runs
  const plan = planOf("GRR 1"), n = 20000, epsilon = 0.5;
  let truth = 0;
  for (let i = 0; i < n; i++) truth += plan.report(2).report === 2;
  const p = Math.exp(epsilon) / (Math.exp(epsilon) + 3);
  assert.ok(Math.abs(truth / n - p) < 6 * Math.sqrt((p * (1 - p)) / n), `${truth} of ${n}, wanted ${p}`);
});

test("public coins fix the hash and the column, and nothing else", () => {
  const plan = planOf("OLH of 1000"), coins = ["0123456789abcdef", "fedcba9876543210", "0011223344556677"];
  const reports = Array.from({ length: 64 }, (_, i) => plan.report(i, { coins }).report);
  assert.equal(new Set(reports.map(report => report.slice(0, -4))).size, 1);
  assert.ok(new Set(reports).size > 8);
  const columns = planOf("SMP 0");
  for (const [coin, shown] of [["0000000000000000", 0], ["ffffffffffffffff", 1]]) {
    const { report } = columns.report({ smoker: "yes", region: 2 }, { coins: [coin] });
    assert.deepEqual(report.map(entry => entry === null), [shown !== 0, shown !== 1]);
  }
  assert.throws(() => planOf("RSFD 0").report({ smoker: "yes", region: 2 }, { coins: ["0000000000000000"] }), { code: "coins" });
});

test("a plan that declares the collector's coins makes no report without them", () => {
  for (const { text, cases: [one] } of coined) {
    const plan = new Plan(text), options = { coins: one.coins, number: one.number ?? 0 };
    const { result, filled } = watched(() => {
      assert.throws(() => plan.report(one.answers), { code: "coins" });
      assert.throws(() => plan.report(one.answers, { coins: null }), { code: "coins" });
      return plan.coins;
    });
    assert.deepEqual([result, filled.length], ["collector", 0]); // refused before a word is drawn
    assert.equal(plan.report(one.answers, options).plan, plan.digest);
  }
  assert.equal(planOf("OLH of 1000").coins, "person");
  assert.equal(planOf("GRR 0").coins, "person");
});

for (const { name, text, cases: [one] } of coined) {
  test(`${name}: words that randomise come from the operating system, and none is left`, () => {
    const { filled } = watched(() => new Plan(text).report(one.answers, { coins: one.coins, number: one.number ?? 0 }));
    assert.ok(filled.length > 0 && filled.every(array => array.every(half => half === 0)));
  });
}

/** Counts the words that a law takes as public ones. */
class Watched extends GivenWords {
  public = 0;
  takePublic(main) {
    this.public += main;
    return super.takePublic(main);
  }
}

/** What may be public: which columns are drawn, and the seeds of each hash that is shown. Never a word that randomises. */
function publicWords({ law }, report) {
  if (law.constructor.name === "HiddenLaw") return 0;
  const parts = law.parts ?? [law], cells = law.parts ? report : [report];
  const seeds = parts.map((part, i) => (part.constructor.name === "HashedLaw" && cells[i] !== null ? part.seedWords : 0));
  return seeds.reduce((sum, count) => sum + count, law.constructor.name === "SampledLaw" && !law.inTurn ? 1 : 0);
}

for (const { name, text, cases } of plans) {
  test(`${name}: no word that randomises is a public one`, () => {
    const plan = new Plan(text), main = Array(1000).fill("8000000000000001"), deep = Array(2000).fill("0123456789abcdef");
    for (const { answers, number = 0 } of cases.slice(0, 20)) {
      const words = new Watched(main, deep);
      words.finish = () => {};
      const { report } = plan.reportFrom(answers, words, number);
      assert.equal(words.public, publicWords(plan, report));
    }
  });
}

test("a plan that is not the one of the link is refused", () => {
  const { text, digest } = plans[0];
  assert.equal(new Plan(text, { digest }).digest, digest);
  assert.throws(() => new Plan(text, { digest: digest.replace(/^./, c => (c === "0" ? "1" : "0")) }), { code: "digest" });
});

test("a message holds no answer, and no key", () => {
  const secret = "my secret 7351", messages = [];
  const note = work => {
    try {
      work();
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
      messages.push(inspect(error, { depth: 9 }));
    }
  };
  for (const { name, text } of plans) {
    note(() => new Plan(text).report(secret, { number: 0 }));
    note(() => new Plan(text).report([secret]));
    const columns = JSON.parse(text).person.domain.order;
    if (columns) note(() => planOf(name).report(Object.fromEntries(columns.map(column => [column, secret])), { number: 0 }));
  }
  const key = new Uint8Array(32).fill(73), client = new MemoisedClient(planOf("RAPPOR 0"), { key, question: "q" });
  client.report(1);
  note(() => client.report(2));
  note(() => client.report(secret));
  messages.push(inspect(client, { depth: 9, showHidden: true }));
  assert.ok(messages.length > 100);
  assert.ok(messages.every(message => !message.includes("7351") && !message.includes("73, 73") && !message.includes("73,73")));
});

test("a memoised client keeps to the values that were declared", () => {
  const plan = planOf("RAPPOR 2"), key = new Uint8Array(16).fill(1), question = "q";
  const client = new MemoisedClient(plan, { key, question, values: 2 });
  for (const value of [5, 5, 69, 5]) client.report(value);
  assert.deepEqual(client.seen, [5, 69]);
  assert.throws(() => client.report(6), { code: "values-spent" });
  assert.deepEqual(client.seen, [5, 69]);
  assert.throws(() => new MemoisedClient(plan, { key, question, values: 2, seen: client.seen }).report(6), { code: "values-spent" });
  for (const wrong of [{ key: new Uint8Array(15) }, { key: "k".repeat(32) }, { question: "" }, { values: 0 }, { seen: [70] }, { seen: [1, 2] }]) {
    assert.throws(() => new MemoisedClient(plan, { key, question, ...wrong }), { code: "key" });
  }
  assert.throws(() => new MemoisedClient(planOf("GRR 0"), { key, question }), { code: "not-memoised" });
});

test("kept bits are kept: reports of one value resemble one another, and another key's do not", () => {
  const plan = planOf("RAPPOR 1"), question = "q"; // kept bits are far from the truth here, and reports near to them
  const bits = hex => [...parseInt(hex, 16).toString(2).padStart(8, "0")].map(Number);
  const mean = key => {
    const client = new MemoisedClient(plan, { key: new Uint8Array(32).fill(key), question });
    const sum = Array(8).fill(0);
    for (let i = 0; i < 100; i++) bits(client.report(3).report).forEach((bit, place) => (sum[place] += bit / 100));
    return sum;
  };
  const apart = (one, other) => one.reduce((sum, value, i) => sum + Math.abs(value - other[i]), 0);
  const keys = [1, 2, 3, 4, 5, 6], total = other => keys.reduce((sum, key) => sum + apart(mean(key), mean(other(key))), 0);
  assert.ok(total(key => key) < 2); // 36 bits that differ by chance, by 0.03 each
  assert.ok(total(key => key + 1) > 6); // the kept bits of these keys, which never change
});

test("SHA-256 and AES are those of OpenSSL, and BLAKE2b does not see where its message is cut", async () => {
  const { hexOf, sha256 } = await load("sha256"), { keystream } = await load("keystream"), { blake2b } = await load("blake2b");
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * i + 7) % 256);
  for (let length = 0; length <= 300; length++) {
    const message = bytes.slice(0, length);
    assert.equal(hexOf(sha256(message)), createHash("sha256").update(message).digest("hex"));
    const whole = hexOf(blake2b(message, bytes.slice(0, 32), "murmure keep 1")(new Uint8Array(0)));
    for (const at of [0, 1, 127, 128, 129, 256].filter(at => at <= length)) {
      assert.equal(hexOf(blake2b(message.slice(0, at), bytes.slice(0, 32), "murmure keep 1")(message.slice(at))), whole);
    }
  }
  for (let start = 0; start < 200; start += 20) {
    const key = bytes.slice(start, start + 32), range = keystream(key, 101);
    const openssl = (lane, size) => createCipheriv("aes-256-ctr", key, Buffer.from([0, 0, 0, lane, ...Array(12).fill(0)])).update(Buffer.alloc(size));
    const words = Array.from({ length: 101 }, (_, i) => range.big(i));
    assert.deepEqual(words, Array.from({ length: 101 }, (_, i) => openssl(0, 816).readBigUInt64LE(8 * i)));
    const deep = openssl(1, 816);
    for (const i of [0, 1, 2, 99, 100]) assert.deepEqual([...range.deep(i)], [deep.readUInt32LE(8 * i), deep.readUInt32LE(8 * i + 4)]);
  }
});

/** Every place in a JSON value: what holds it, and its key. */
function* places(value) {
  if (value === null || typeof value !== "object") return;
  for (const key of Object.keys(value)) {
    yield [value, key];
    yield* places(value[key]);
  }
}

const GARBAGE = [null, 0, -1, 1.5, 1e308, "", "x", "1", true, [], {}, [[]], { law: "window" }, { toString: 1 }, undefined];

for (const { name, text, cases } of plans.filter(({ text }) => text.length < 4000)) {
  test(`${name}: whatever is broken in a plan is refused in words`, () => {
    const json = JSON.parse(text);
    let refused = 0;
    for (const [holder, key] of [...places(json)]) {
      const kept = holder[key];
      for (const garbage of GARBAGE) {
        holder[key] = garbage;
        try {
          new Plan(JSON.stringify(json)).report(cases[0].answers, { number: 0 });
        } catch (error) {
          assert.ok(error instanceof Refusal, `${key} = ${JSON.stringify(garbage)}: ${error.stack}`);
          refused += 1;
        }
      }
      holder[key] = kept;
    }
    assert.ok(refused > 50);
  });
}

test("refusals can be said in another language", () => {
  const french = { "no-person": ["Plan refusé : {got} rien à envoyer.", "demander un autre plan"] };
  const refusal = new Refusal("no-person", { got: "donc" });
  assert.deepEqual(refusal.in(french), { what: "Plan refusé : donc rien à envoyer.", hint: "demander un autre plan" });
  assert.equal(new Refusal("weights").in(french).what, MESSAGES.weights[0]);
});

test("without a source of randomness nothing is reported", () => {
  const plan = planOf("GRR 0"), real = crypto.getRandomValues;
  crypto.getRandomValues = undefined;
  try {
    assert.throws(() => plan.report(1), { code: "randomness" });
  } finally {
    crypto.getRandomValues = real;
  }
});
