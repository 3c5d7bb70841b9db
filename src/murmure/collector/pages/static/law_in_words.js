// The plan's law for people: a picture of what the coin does, and a report in words. Both are read off the integers
// that are drawn with; no probability is computed from epsilon here.

import { BitsLaw, ChainedBitsLaw } from "../client/bits.js";
import { HadamardLaw } from "../client/hadamard.js";
import { HashedLaw } from "../client/hashed.js";
import { HiddenLaw } from "../client/hidden.js";
import { WORD } from "../client/integers.js";
import { JointLaw, SampledLaw } from "../client/records.js";
import { SubsetLaw } from "../client/subset.js";
import { TableLaw } from "../client/table.js";
import { TaggedLaw } from "../client/tagged.js";
import { WindowLaw } from "../client/window.js";
import { element, hundredBar, hundredDots } from "./elements.js";

/** How many of 100 a part of a whole is. */
const hundredth = (part, whole = WORD) => Number((part * 200n + whole) / (2n * whole));

/** Two parts of 100, and what each of them sends. */
const two = (part, whole, yes, no) => {
  const n = hundredth(part, whole);
  return [[n, ...yes], [100 - n, ...no]];
};

const marks = (law, yes, no, about) => ({
  parts: two(law.yesTrue, WORD, [yes], [no]),
  about: [[about, { n: hundredth(law.yesFalse), count: law.inputs }]],
});

/** law -> { parts: [[of 100, key, fields]], about: [[key, fields]], lead: code of the answer that it is about, if it matters }. */
const CHANCES = new Map([
  [WindowLaw, law => {
    if (law.plain) {
      const count = law.outputs - 1;
      return { parts: two(law.body, WORD, ["same"], count === 1 ? ["other"] : ["others", { count }]), about: [] };
    }
    return {
      parts: two(law.body, WORD, ["near"], ["far"]),
      about: [["near.about", { share: law.length / law.outputs }]],
    };
  }],
  [TableLaw, (law, question, x) => {
    const sides = question.kind === "number", at = x ?? law.inputs - 1, row = law.weights(at), lead = at;
    if (law.reports === 2 && sides) return { parts: two(row[1], WORD, ["high"], ["low"]), about: [], lead };
    if (sides) {
      const reach = Math.max(1, Math.round(law.reports / 10));
      const close = row.reduce((sum, weight, y) => (Math.abs(y - at) <= reach ? sum + weight : sum), 0n);
      const distance = reach * question.step;
      return { parts: two(close, WORD, ["close", { distance }], ["further"]), about: [], lead };
    }
    const count = law.reports - 1;
    return { parts: two(row[at], WORD, ["same"], count === 1 ? ["other"] : ["others", { count }]), about: [], lead };
  }],
  [TaggedLaw, law => {
    const near = hundredth(law.coin * law.first.body, WORD * WORD), first = hundredth(law.coin);
    return {
      parts: [[near, "near"], [first - near, "far"], [100 - first, "side"]],
      about: [["near.about", { share: law.first.length / law.first.outputs }]],
    };
  }],
  [BitsLaw, law => marks(law, "marked", "unmarked", "marked.about")],
  [ChainedBitsLaw, law => marks(law.permanent, "kept.mark", "kept.none", "kept.about")],
  [HashedLaw, law => ({
    parts: two(law.bins.body, WORD, ["group"], ["groups"]), about: [["group.about", { n: law.bins.outputs }]],
  })],
  [SubsetLaw, law => ({
    parts: two(law.keep, WORD, ["set"], ["sets"]), about: [["set.about", { n: law.size, count: law.inputs }]],
  })],
  [HadamardLaw, law => ({
    parts: two(law.keep, WORD >> law.log, ["fit"], ["fits"]), about: [["fit.about"]],
  })],
]);

const RECORDS = new Map([
  [JointLaw, () => ["joint"]],
  [SampledLaw, ({ take }) => (take === 1 ? ["sampled"] : ["sampled.some", { n: take }])],
  [HiddenLaw, () => ["hidden"]],
]);

/** The law of one question in words. lead: the answer that it is about, or null where it is the same for all of them. */
function told(law, question, speech) {
  const { parts, about, lead } = CHANCES.get(law.constructor)(law, question, question.code);
  const say = (key, fields) => speech.say(key, written(speech, fields));
  const chosen = question.given === undefined ? () => question.answer(lead, speech) : () => question.inWords(question.given, speech);
  return {
    counts: parts.map(([n]) => n),
    lines: parts.map(([n, key, fields]) => say(key, { ...fields, n })),
    notes: about.map(([key, fields]) => element("p", { class: "note" }, say(key, fields))),
    lead: lead === undefined ? null : chosen(),
  };
}

const keyTo = lines => element("ul", { class: "key" }, ...lines.map((line, kind) => element("li", { class: `k${kind}` }, line)));

function written(speech, fields = {}) {
  const write = ([name, value]) => [name, name === "share" ? speech.percent(value) : speech.number(value)];
  return Object.fromEntries(Object.entries(fields).map(write));
}

/** The picture as nodes, for the answers that are given so far. */
export function coinPicture(plan, questions, speech) {
  return plan.ofRecords ? ofRecord(plan, questions, speech) : ofAnswer(plan.law, questions[0], speech);
}

function ofAnswer(law, question, speech) {
  const { counts, lines, notes, lead } = told(law, question, speech);
  const first = lead === null ? speech.say("lead") : speech.say("lead.label", { answer: lead });
  const dots = hundredDots(counts, speech.say("drawing", { parts: lines.join(", ") }));
  return [element("p", {}, first), element("div", { class: "hundred" }, dots, keyTo(lines)), ...notes];
}

function ofRecord({ law }, questions, speech) {
  const [key, fields] = RECORDS.get(law.constructor)(law);
  const rows = law.parts.map((part, i) => {
    const { counts, lines, notes, lead } = told(part.real ?? part, questions[i], speech);
    const bar = hundredBar(counts, speech.say("drawing", { parts: lines.join(", ") }));
    const about = lead === null ? [] : [element("p", { class: "note" }, speech.say("rows.label", { answer: lead }))];
    return element("li", {}, element("span", { class: "asked" }, questions[i].text), ...about, bar, keyTo(lines), ...notes);
  });
  const count = speech.number(questions.length);
  const first = speech.say(key, { ...written(speech, fields), count });
  const about = element("p", { class: "note" }, speech.say("rows"));
  return [element("p", {}, first), about, element("ul", { class: "strips" }, ...rows)];
}

// -- a report in words: one that is not an answer itself (marks, a hash, a list) is shown as the answers that it fits

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
    return speech.say(key, { labels: labels.join(labels.some(label => label.includes(",")) ? " · " : ", ") });
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
