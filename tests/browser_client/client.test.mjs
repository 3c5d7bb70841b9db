// The browser's client against Python's vectors, without a browser. tests/browser_client/test_client.py runs this; by hand:
//   python tests/browser_client/test_client.py

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const load = name => import(pathToFileURL(`${process.env.CLIENT}/${name}.js`));
const read = name => JSON.parse(readFileSync(process.env[name], "utf-8"));
const { plans, domains, bad, memoised } = read("VECTORS");
const runner = await load("runner");

for (const one of plans) test(`plan ${one.name}`, () => assert.deepEqual(runner.checkPlan(one), []));
for (const [i, one] of domains.entries()) test(`domain ${i} ${one.domain.type}`, () => assert.deepEqual(runner.checkDomain(one), []));
for (const one of bad) test(`refused: ${one.name}`, () => assert.deepEqual(runner.checkBad(one), []));
for (const [i, one] of memoised.entries()) test(`memoised ${i}`, () => assert.deepEqual(runner.checkMemoised(one), []));
test("digests of all plans", () => assert.deepEqual(read("PLANS").flatMap(runner.checkDigest), []));
