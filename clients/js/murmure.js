// Randomise an answer in the browser, before it leaves the device:
//
//   import { Plan } from "./murmure.js";
//   const plan = new Plan(await (await fetch("plan.json")).text());
//   const report = plan.report("yes"); // { plan: digest, report: ... }: this is what is sent, and all that is sent

export { Plan } from "./plan.js";
export { MESSAGES, Refusal } from "./refusal.js";

// Repeated waves: import { MemoisedClient } from "./memoised.js"; it is not here, so that other pages load less.
