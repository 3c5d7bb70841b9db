// A report in words: what somebody who receives it reads. A report that is not an answer itself (marks, a hash, a list)
// is shown as the answers that it fits.

import { BitsLaw, ChainedBitsLaw } from "../client/bits.js";
import { HadamardLaw } from "../client/hadamard.js";
import { HashedLaw } from "../client/hashed.js";
import { SubsetLaw } from "../client/subset.js";
import { TableLaw } from "../client/table.js";
import { TaggedLaw } from "../client/tagged.js";
import { WindowLaw } from "../client/window.js";

const MAX_LABELS = 8;

/** Codes whose bit is set: bit v is bit v % 8 of byte v / 8. */
function setBits(hex, size) {
  const bytes = hex.match(/../g).map(byte => parseInt(byte, 16));
  return Array.from({ length: size }, (_, v) => v).filter(v => (bytes[v >> 3] >> (v & 7)) & 1);
}

/** Codes that the public hash of a report sends to its bin: h(v) = b XOR (a_i for every bit i that is set in v). */
function inBin(hex, law) {
  const all = hex.match(/..../g).map(word => parseInt(word.slice(2) + word.slice(0, 2), 16));
  const bin = all.pop(), [first, ...seeds] = all;
  const binOf = v => {
    const hash = seeds.reduce((h, seed, i) => (Math.floor(v / 2 ** i) % 2 ? h ^ seed : h), first);
    return Math.floor((hash * law.bins.outputs) / 2 ** law.seedBits);
  };
  return Array.from({ length: law.inputs }, (_, v) => v).filter(v => binOf(v) === bin);
}

/** Codes whose row of the Hadamard matrix is +1 at this report. */
function inHalf(report, law) {
  const even = n => !(n.toString(2).replaceAll("0", "").length % 2);
  return Array.from({ length: law.inputs }, (_, v) => v).filter(v => even(BigInt(v + 1) & BigInt(report)));
}

const READINGS = new Map([
  [BitsLaw, (law, report) => ["marks", setBits(report, law.inputs)]],
  [ChainedBitsLaw, (law, report) => ["marks", setBits(report, law.inputs)]],
  [SubsetLaw, (law, report) => ["listed", setBits(report, law.inputs)]],
  [HashedLaw, (law, report) => ["grouped", inBin(report, law)]],
  [HadamardLaw, (law, report) => ["fitting", inHalf(report, law)]],
]);

/** One report, in words. null: nothing is shown of this question. */
export function readReport(law, question, report, speech) {
  if (report === null) return speech.say("nothing");
  const reading = READINGS.get(law.constructor);
  if (reading) {
    const [key, codes] = reading(law, report);
    if (!codes.length) return speech.say(`${key}.none`);
    const labels = codes.slice(0, MAX_LABELS).map(code => question.answer(code, speech));
    if (codes.length > MAX_LABELS) labels.push(speech.say("and.more", { n: speech.number(codes.length - MAX_LABELS) }));
    return speech.say(key, { labels: labels.join(", ") });
  }
  const number = question.kind === "number";
  if (law instanceof TaggedLaw) {
    const first = report < law.first.reports;
    return readReport(first ? law.first : law.second, question, first ? report : report - law.first.reports, speech);
  }
  if (law instanceof TableLaw && number && law.reports === 2) return speech.say(report ? "says.high" : "says.low");
  if (law instanceof WindowLaw && law.outputs !== law.inputs) {
    // The window slides over a scale that is longer than the range: a report is the number in whose middle it lies.
    const number = y => question.answer((y - (law.length - 1) / 2) / law.step, speech);
    return speech.say("position", { answer: number(report), low: number(0), high: number(law.outputs - 1) });
  }
  return question.answer(report, speech);
}
