// The report on the page: what was answered (as long as the page remembers), what is sent, how it is sent, the receipt.

import { TableLaw } from "../client/table.js";
import { Conclusions } from "./conclusions.js";
import { Delivery } from "./delivery.js";
import { byId, element, show } from "./elements.js";
import { readReport } from "./law_in_words.js";
import { AskedQuestion } from "./questions.js";

/** A problem in words of the catalogue. */
export class Stop extends Error {
  constructor(speech, key, fields = {}) {
    super(key);
    this.sentence = speech.say(key, fields);
  }
}

/** An error of our own, or another one, with its reason: one of the client's refusals, which never hold an answer. */
export function tellProblem(error, speech, ...more) {
  const sentence = error.sentence ?? speech.say("failed", { reason: error.message.split("\n")[0] });
  byId("problem").replaceChildren(sentence, ...more);
  show(byId("problem"));
}

/** A refusal that says nothing about an earlier try of the same report: that one may have arrived in time. */
const unsure = ({ code, asked }, speech) => Boolean(asked) && Object.hasOwn(speech.words, `refused.${code}.asked`);

/** refused: { code, reason, asked } of the collector's refusal. */
export function refusalText(refused, speech) {
  const { code, reason } = refused, key = speech.keyOf("refused", code);
  return speech.say(unsure(refused, speech) ? `${key}.asked` : key, { reason });
}

const WAITING = ["retry", "busy", "offline", "stopped"];

export class ReportView {
  constructor(plan, survey, store, speech) {
    Object.assign(this, { plan, survey, store, speech });
    const names = plan.ofRecords ? plan.domain.names : [survey.questions[0].name];
    this.questions = names.map((name, i) => {
      const place = survey.questions.findIndex(question => question.name === name);
      return new AskedQuestion(survey.questions[place], place, plan.ofRecords ? plan.domain.domains[i] : plan.domain);
    });
    this.conclusions = new Conclusions(plan, survey, store, speech);
    this.conclusions.writeNumbers();
    this.body = null; // of the report that is shown, as long as it is not settled
  }

  /** Nothing of what was answered stays on the page: not in its fields, not in the picture, not in words. */
  forget() {
    for (const question of this.questions) question.clear();
    byId("picture")?.replaceChildren();
    const gone = this.survey.waves > 1 ? "gone.waves" : "gone";
    byId("answered").replaceChildren(element("p", {}, this.speech.say(gone)));
    show(byId("remembered"), false);
    byId("luck").textContent = "";
  }

  /** record: as it is kept. labels: what was answered, as long as this page remembers. */
  review(record, labels = null) {
    const { store, speech } = this, sent = JSON.parse(record.body);
    this.body = record.body;
    show(byId("answering"), false);
    show(byId("review"));
    this.forget();
    this.warn();
    if (labels) byId("answered").replaceChildren(...this.lines(labels));
    show(byId("remembered"), labels !== null);
    byId("report-words").replaceChildren(...this.words(sent));
    byId("luck").textContent = labels ? this.luck(labels[0], sent.report) : "";
    byId("report-text").textContent = record.body;
    this.conclusions.write("");
    const told = (state, details) => this.told(record, state, details);
    const delivery = new Delivery(this.survey.id, record.body, Boolean(record.asked), told);
    byId("send").addEventListener("click", () => {
      const kept = store.pinned; // of another tab, perhaps: then that report is the one
      if (kept && kept.body !== record.body) return location.reload();
      store.pinned = { ...record, asked: true };
      return delivery.start();
    });
    byId("delete").addEventListener("click", () => this.discard());
    if (record.refused) this.told(record, "refused", record.refused);
    else if (record.asked) delivery.start();
    else this.told(record, store.keeps ? "kept" : "kept.page");
    if (labels) byId("review").querySelector("h2").focus();
  }

  /** A report in words: one text, or one for each question. */
  words({ plan, report }) {
    if (plan !== this.plan.digest) return [];
    const { law, ofRecords } = this.plan;
    const parts = ofRecords ? law.parts.map((part, i) => [part.real ?? part, report[i]]) : [[law, report]];
    return this.lines(parts.map(([part, value], i) => readReport(part, this.questions[i], value, this.speech)));
  }

  lines(texts) {
    const asked = this.questions.map(({ text }) => text);
    const row = (text, i) => [element("dt", {}, asked[i]), element("dd", {}, text)];
    if (texts.length > 1) return [element("dl", {}, ...texts.flatMap(row))];
    for (const place of document.querySelectorAll(".asked-once")) place.textContent = asked[0];
    return [element("p", { class: "large" }, texts[0])];
  }

  /** Whether the coin changed the answer, where a report is an answer: on the screen, as long as this page knows. */
  luck(label, report) {
    const { law } = this.plan, [question] = this.questions;
    const isAnswer = law.plain || (law instanceof TableLaw && question.kind !== "number");
    if (!isAnswer) return "";
    return this.speech.say(question.answer(report, this.speech) === label ? "coin.kept" : "coin.changed");
  }

  // -- sending

  told(record, state, details = {}) {
    if (state === "received") {
      this.received(record, details);
      return;
    }
    const { speech } = this, waits = WAITING.includes(state), n = speech.number(details.n ?? 0);
    const sentence = state === "refused" ? this.refusal(record, details) : speech.say(state, { n });
    byId("delivery").className = `delivery ${state.replace(".", " ")}`;
    byId("delivery").textContent = sentence;
    if (!details.counting) byId("announced").textContent = sentence; // a screen reader need not count the seconds
    if (waits) byId("send").textContent = speech.say("again");
    show(byId("send-row"), state.startsWith("kept") || waits);
    show(byId("delete"), state === "refused" && details.code !== "other-wave");
  }

  refusal(record, refused) {
    this.store.pinned = { ...record, refused };
    return refusalText(refused, this.speech);
  }

  /** A report that was not counted leaves the device; that there was one does not, so that nothing is drawn again. */
  discard() {
    const { refused } = this.store.pinned, deleted = unsure(refused, this.speech) ? "deleted.asked" : "deleted";
    this.body = null;
    this.forget();
    show(byId("review"), false);
    byId("report-text").textContent = "";
    byId("report-words").replaceChildren();
    tellProblem({ sentence: `${this.refusal({}, refused)} ${this.speech.say(deleted)}` }, this.speech);
  }

  received({ token, body }, { stored }) {
    const { store, survey } = this, { plan, report } = JSON.parse(body), record = { plan, report, received: stored };
    // A personal link is used again in the next wave; on an open link the device makes another token.
    store.pinned = survey.waves > 1 && survey.link === "invitations" ? { ...record, token } : record;
    this.forget();
    this.receipt();
    byId("receipt").querySelector("h2").focus();
  }

  /** A report that is kept nowhere would be drawn again. */
  warn() {
    const { keeps } = this.store;
    show(byId("unkept"), !keeps);
    show(byId("kept-once"), keeps);
  }

  receipt() {
    const record = this.store.pinned;
    this.body = null;
    show(byId("unkept"), false);
    for (const id of ["answering", "review"]) show(byId(id), false);
    show(byId("receipt"));
    byId("receipt-words").replaceChildren(...this.words(record));
    showReceipt(this.survey, record, this.speech);
    this.conclusions.write("receipt-");
  }
}

// -- the receipt: the report exactly as it was sent, and what it belongs to; never the answer, the words or the token

const receiptText = ({ id, wave }, { plan, report }) =>
  JSON.stringify({ murmure_receipt: 1, survey: id, wave, plan, report }, null, 1);

export function showReceipt(survey, record, speech) {
  const text = receiptText(survey, record);
  byId("received").textContent = speech.say(`received.${record.received === "before" ? "before" : "now"}`);
  byId("receipt-text").textContent = text;
  byId("copy").addEventListener("click", async () => {
    if (await copied(text)) byId("copied").textContent = speech.say("copied");
  });
  byId("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `murmure-${speech.say("download.name")}-${survey.id}-${survey.wave}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

/** navigator.clipboard is only there with TLS, which a class-room may not have. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(byId("receipt-text"));
    return document.execCommand("copy");
  }
}
