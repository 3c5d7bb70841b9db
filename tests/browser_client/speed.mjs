// How long one report takes for k = 1,000, in milliseconds: the median of fresh reports, and the first one, which also
// compiles the code. Reads {name: plan} and prints {name: {first, median, parse}}.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Plan } = await import(pathToFileURL(`${process.env.CLIENT}/murmure.js`));
const out = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(process.env.PLANS, "utf-8")))) {
  const began = performance.now(), plan = new Plan(text), parse = performance.now() - began;
  const times = Array.from({ length: 101 }, (_, i) => {
    const start = performance.now();
    plan.report((i * 37) % 1000);
    return performance.now() - start;
  });
  out[name] = { parse, first: times[0], median: [...times].sort((a, b) => a - b)[50], best: Math.min(...times) };
}
console.log(JSON.stringify(out));
