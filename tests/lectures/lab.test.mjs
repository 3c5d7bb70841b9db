// The lab's functions, without a browser. tests/lectures/test_lab.py runs this; by hand:
//   LAB=docs/lab VECTORS=tests/vectors/lab.json node --test tests/lectures/lab.test.mjs

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const load = name => import(pathToFileURL(`${process.env.LAB}/${name}.js`));
const vectors = JSON.parse(readFileSync(process.env.VECTORS, "utf-8"));
const TOLERANCE = 1e-8;

/** Everything that is wanted is there, numbers to a relative 1e-8; a function may return more. */
function agrees(actual, wanted, where) {
  if (typeof wanted === "number") {
    assert.equal(typeof actual, "number", where);
    const far = Math.abs(actual - wanted) > TOLERANCE * Math.abs(wanted) + 1e-15;
    assert.ok(!far && !Number.isNaN(actual), `${where}: ${actual}, Python has ${wanted}`);
  } else if (wanted !== null && typeof wanted === "object") {
    if (Array.isArray(wanted)) assert.equal(actual.length, wanted.length, where);
    for (const key of Object.keys(wanted)) agrees(actual[key], wanted[key], `${where}.${key}`);
  } else {
    assert.equal(actual, wanted, where);
  }
}

for (const { name, module, function: called, arguments: given, returns } of vectors) {
  test(`vector ${name}`, async () => agrees((await load(module))[called](...given), returns, name));
}

test("the leaves of the tree add up to the matrix", async () => {
  const { leaves, warner } = await load("laws");
  for (const [t, s, f] of [[0.5, 0.5, 0.3], [0.2, 0.9, 0.01], [0.99, 0, 1]]) {
    const [truthYes, truthNo, coinYes, coinNo] = leaves(t, s, f), { a, c } = warner(t, s);
    agrees(truthYes + coinYes, c + (a - c) * f, "yes");
    agrees(truthYes + truthNo + coinYes + coinNo, 1, "all");
  }
});

test("a coin that forces one answer protects nobody who gives the other", async () => {
  const { warner } = await load("laws");
  assert.equal(warner(0.5, 0).epsilon, Infinity);
  assert.equal(warner(0.5, 1).epsilon, Infinity);
});

test("a law on cells loses what it was calibrated to, and Laplace's law between its ends", async () => {
  const { calibratedStair, exactLoss, laplaceShape } = await load("laws");
  for (const epsilon of [0.01, 0.5, 1, 10]) {
    agrees(exactLoss(calibratedStair(epsilon, "absolute", 100).shape).epsilon, epsilon, "staircase");
    const { x, other, ...loss } = exactLoss(laplaceShape(epsilon, 100));
    agrees(loss.epsilon, epsilon, "Laplace");
    assert.equal(Math.abs(x - other), 99);
  }
});

test("numbers as people type them", async () => {
  const { parse } = await load("numbers");
  const typed = {
    "0,5": 0.5, "1/2": 0.5, "ln 3": Math.log(3), "ln(3)": Math.log(3), "ln(3)/2": Math.log(3) / 2,
    "100 000": 1e5, "1e5": 1e5, " 2. ": 2, "-1": -1,
  };
  for (const [text, number] of Object.entries(typed)) assert.equal(parse(text), number, text);
  for (const text of ["", "x", "1.5.2", "1/2/3", "0x10", "<b>", "Infinity", "10 00", "--1"]) {
    assert.ok(Number.isNaN(parse(text)), text);
  }
});

test("numbers as people read them", async () => {
  const { format, percent, plain } = await load("numbers");
  assert.equal(format(0.25, "fr"), "0,25");
  assert.equal(format(3.6826943768e-5, "fr"), "3,683\u00a0×\u00a010⁻⁵");
  assert.equal(format(1e-4, "en"), "10⁻⁴");
  assert.equal(format(-2.5, "en"), "−2.5");
  assert.equal(format(100000, "en"), "100,000");
  assert.equal(format(Infinity, "fr"), "∞");
  assert.equal(percent(0.619, "fr"), "61,9\u00a0%");
  assert.equal(plain(0.1 + 0.2), "0.3");
});

test("an address gives a complete state, and is written as it was read", async () => {
  const { PANELS, read, write } = await load("address");
  for (const panel of Object.keys(PANELS)) {
    const state = read(`#${panel}`);
    assert.deepEqual(state.notices, []);
    assert.deepEqual(Object.keys(state.values), Object.keys(PANELS[panel]));
    for (const lang of ["fr", "en"]) {
      const again = read(write(panel, state.values, lang));
      assert.deepEqual(again, { ...state, lang });
    }
  }
});

test("what an address may say: fractions, logarithms, capitals, a language, and the query's language", async () => {
  const { read } = await load("address");
  assert.deepEqual(read("#tree?truth=1/2&YES=0,25&N=50").values, { truth: 0.5, yes: 0.25, f: 0.3, n: 50 });
  assert.equal(read("#grr?epsilon=ln 3").values.epsilon, Math.log(3));
  assert.equal(read("#grr?epsilon=ln%203").values.epsilon, Math.log(3));
  assert.equal(read("").lang, "fr");
  assert.equal(read("#grr", "?lang=en").lang, "en");
  assert.equal(read("#grr?lang=fr", "?lang=en").lang, "fr");
});

test("nonsense is replaced, and said", async () => {
  const { read } = await load("address");
  const why = hash => read(hash).notices.map(notice => notice.why);
  assert.deepEqual(why("#nowhere"), ["panel"]);
  assert.deepEqual(why("#__proto__"), ["panel"]);
  assert.deepEqual(why("#tree?truth=abc&colour=red"), ["number", "unknown"]);
  assert.deepEqual(why("#grr?epsilon=-1&k=2.6&lang=de"), ["choice", "range", "whole"]);
  assert.deepEqual(why("#laws?law=gauss"), ["choice"]);
  const { values, notices } = read("#grr?epsilon=1e9&k=4&x=9");
  assert.deepEqual([values.epsilon, values.k, values.x], [10, 4, 4]);
  assert.deepEqual(notices.map(notice => notice.max), [10, 4]);
});

test("every sentence exists in both languages with the same gaps, French with its letters", async () => {
  const { PAIRS } = await load("words");
  const gaps = text => [...new Set(text.match(/\{\w+\}/g))].sort();
  for (const [key, pair] of PAIRS) {
    assert.equal(pair.length, 2, key);
    assert.ok(pair.every(text => text.trim()), key);
    assert.deepEqual(gaps(pair[0]), gaps(pair[1]), key);
    assert.doesNotMatch(pair[0], /['“”]/, `${key}: French has ’ and « »`);
  }
});
