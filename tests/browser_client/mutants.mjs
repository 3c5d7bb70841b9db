// Moves every integer of every law in the vectors by one, and lists what no vector noticed: [plan, path, by].
// Run by tests/browser_client/test_client.py.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { isNoticed } = await import(pathToFileURL(`${process.env.CLIENT}/runner.js`));
const { plans } = JSON.parse(readFileSync(process.env.VECTORS, "utf-8"));

/** The path of every integer below a value. */
function* integers(value, path = []) {
  if (typeof value === "number" || (typeof value === "string" && /^-?[0-9]+$/.test(value))) yield [path, value];
  else if (value !== null && typeof value === "object") {
    for (const [key, item] of Object.entries(value)) yield* integers(item, [...path, key]);
  }
}

const missed = [];
let tried = 0;
for (const vector of plans) {
  for (const [path, value] of integers(JSON.parse(vector.text).person.law, ["person", "law"])) {
    for (const by of [-1, 1]) {
      tried += 1;
      const moved = typeof value === "number" ? value + by : String(BigInt(value) + BigInt(by));
      if (!isNoticed(vector, path, moved)) missed.push([vector.name, path.slice(2), by]);
    }
  }
}
console.log(JSON.stringify({ tried, missed }));
