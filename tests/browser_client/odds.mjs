// What the client says of each plan of the vectors: { name: factor }.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const load = name => import(pathToFileURL(`${process.env.CLIENT}/${name}.js`));
const { Plan } = await load("murmure"), { oddsOf } = await load("odds");
const { plans } = JSON.parse(readFileSync(process.env.VECTORS, "utf-8"));
console.log(JSON.stringify(Object.fromEntries(plans.map(({ name, text }) => [name, oddsOf(new Plan(text))]))));
