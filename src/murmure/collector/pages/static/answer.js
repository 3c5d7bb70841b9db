// The answering page. An answer is read from the page, randomised once, and kept nowhere; the report is kept before any
// request is made, shown, sent until it is acknowledged, and never drawn again.

import { Plan } from "../client/plan.js";
import { coinPicture } from "./coin_picture.js";
import { Conclusions } from "./conclusions.js";
import { Delivery, askCoins } from "./delivery.js";
import { DeviceStore } from "./device_store.js";
import { byId, element, show } from "./elements.js";
import { AskedQuestion } from "./questions.js";
import { showReceipt } from "./receipt.js";
import { readReport } from "./report_reading.js";
import { Speech } from "./speech.js";

const { survey, words } = JSON.parse(byId("page-data").textContent);
const speech = new Speech(words), store = new DeviceStore(survey);
const TOKEN = /^[0-9a-f]{32}$/, PREFIX = /^[0-9a-f]{16,64}$/;
const FINAL = ["spent", "not-open", "other-plan", "unknown-link", "refused"]; // nothing will change these

class Stop extends Error {
  constructor(key, fields = {}) {
    super(key);
    this.sentence = speech.say(key, fields);
  }
}

/** The link's fragment: the token leaves the address bar, and waits in this tab until it is kept with the report. */
function readLink() {
  const fragment = new URLSearchParams(location.hash.slice(1)), kept = store.link ?? {};
  const link = { p: fragment.get("p") ?? kept.p ?? null, t: fragment.get("t") ?? kept.t ?? null };
  if (fragment.has("t") && store.session.area) {
    store.link = link;
    const rest = link.p === null ? "" : `#p=${encodeURIComponent(link.p)}`;
    history.replaceState(null, "", location.pathname + location.search + rest);
  }
  for (const other of document.querySelectorAll(".languages a")) other.hash = location.hash;
  addEventListener("hashchange", () => location.reload());
  return link;
}

async function loadPlan(link) {
  let text;
  try {
    const response = await fetch(`/api/surveys/${survey.id}/plan`);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    text = await response.text();
  } catch {
    throw new Stop("plan.missing");
  }
  let plan;
  try {
    plan = new Plan(text);
  } catch (error) {
    throw new Stop("plan.refused", { reason: error.message.split("\n")[0] });
  }
  if (link.p !== null && !(PREFIX.test(link.p) && plan.digest.startsWith(link.p))) throw new Stop("link.plan");
  if (plan.digest !== survey.plan) throw new Stop("page.plan");
  return plan;
}

class AnswerPage {
  constructor(plan, link, memoised) {
    Object.assign(this, { plan, link, memoised });
    const names = plan.ofRecords ? plan.domain.names : [survey.questions[0].name];
    this.questions = names.map((name, i) => {
      const place = survey.questions.findIndex(question => question.name === name);
      return new AskedQuestion(survey.questions[place], place, plan.ofRecords ? plan.domain.domains[i] : plan.domain);
    });
    this.conclusions = new Conclusions(plan, survey, store, speech);
    this.conclusions.writeNumbers();
  }

  // -- answering

  ask() {
    this.draw();
    byId("promise").textContent = this.conclusions.promise();
    const button = byId("randomise");
    button.disabled = false;
    button.addEventListener("click", () => this.randomise());
    byId("answering").addEventListener("input", event => {
      const question = this.questions.find(({ inputs }) => inputs.includes(event.target));
      if (question?.field.classList.contains("faulty")) question.check(speech);
      this.draw();
    });
    byId("answering").addEventListener("keydown", event => {
      if (event.key === "Enter" && event.target.type === "number") this.randomise();
    });
    // Another tab may draw: then its report is the one.
    addEventListener("storage", event => event.key?.endsWith(store.place) && store.pinned?.body && location.reload());
  }

  draw() {
    const codes = this.questions.map(question => question.code);
    byId("picture").replaceChildren(...coinPicture(this.plan, this.questions, codes, speech));
  }

  /** Once: from here on there is a report, whatever happens to the page. */
  async randomise(extraAnswers = 0) {
    const faulty = this.questions.filter(question => !question.check(speech));
    if (faulty.length) return faulty[0].inputs[0].focus();
    const button = byId("randomise"), given = this.questions.map(question => question.given);
    if (button.disabled) return undefined;
    button.disabled = true;
    say("waiting", "");
    show(byId("problem"), false);
    try {
      const token = this.token(), coins = await this.coins(token);
      if (!store.pinned?.body) this.pin(token, this.report(given, coins, extraAnswers));
      this.conclusions.spend(this.memoised ? store.memo.seen.length : 1);
      const labels = this.questions.map(question => question.answer(question.code, speech));
      for (const question of this.questions) question.clear();
      this.review(labels);
    } catch (error) {
      if (error.code === "values-spent") this.offerChange();
      else tellProblem(error);
      button.disabled = false;
    }
    return undefined;
  }

  token() {
    return this.link.t ?? store.pinned?.token ?? store.makeToken();
  }

  /** Public coins come from the collector, after the token is fixed: nobody can try tokens until the coins suit them. */
  async coins(token) {
    if (!survey.coins) return null;
    if (!store.pinned?.token) store.pinned = { token };
    say("waiting", speech.say("coins.waiting"));
    try {
      return await askCoins(survey.id, token);
    } catch (error) {
      const known = error.code && speech.has(error.code);
      throw known ? new Stop(error.code) : new Stop("coins", { reason: error.message });
    } finally {
      say("waiting", "");
    }
  }

  report(given, coins, extraAnswers) {
    const { plan, questions } = this;
    if (this.memoised) {
      const { key, seen } = store.memo, question = `${survey.id}:${questions[0].name}`;
      store.memo = { key, seen }; // before it is used: a key that is lost would cost its epsilon again
      const client = new this.memoised(plan, { key, question, seen, values: Math.max(1, seen.length + extraAnswers) });
      const { report } = client.report(given[0]);
      store.memo = { key, seen: client.seen };
      return report;
    }
    const answers = plan.ofRecords ? Object.fromEntries(questions.map(({ name }, i) => [name, given[i]])) : given[0];
    return plan.report(answers, { coins }).report;
  }

  pin(token, report) {
    const body = JSON.stringify({ token, wave: survey.wave, plan: this.plan.digest, report });
    store.pinned = { token, body, asked: false };
    store.link = null;
  }

  /** In another wave the answer may have changed; a second answer costs as much again, so people are asked. */
  offerChange() {
    const odds = speech.bound(this.conclusions.perAnswer ** (store.memo.seen.length + 1));
    const go = element("button", { type: "button" }, speech.say("changed.go"));
    go.addEventListener("click", () => this.randomise(1));
    byId("problem").replaceChildren(element("p", {}, speech.say("changed", { odds })), go);
    show(byId("problem"));
  }

  // -- the report

  /** labels: what was answered, as long as this page remembers. */
  review(labels = null) {
    const record = store.pinned;
    show(byId("answering"), false);
    show(byId("review"));
    byId("answered").replaceChildren(...(labels ? this.lines(labels) : [element("p", {}, speech.say("gone"))]));
    const sent = JSON.parse(record.body);
    byId("report-words").replaceChildren(...this.words(sent));
    byId("report-text").textContent = record.body;
    this.conclusions.write("");
    const delivery = new Delivery(survey.id, record.body, (state, details) => this.told(state, details));
    byId("send").addEventListener("click", () => {
      store.pinned = { ...store.pinned, asked: true };
      delivery.start();
    });
    if (record.refused) this.told("refused", record.refused);
    else if (record.asked) delivery.start();
    else this.told("kept");
    if (labels) byId("review").querySelector("h2").focus();
  }

  words({ plan, report }) {
    if (plan !== this.plan.digest) return [];
    const { law } = this.plan, single = !this.plan.ofRecords;
    const parts = single ? [[law, report]] : law.parts.map((part, i) => [part.real ?? part, report[i]]);
    return this.lines(parts.map(([part, value], i) => readReport(part, this.questions[i], value, speech)));
  }

  /** One text, or one for each question. */
  lines(texts) {
    if (texts.length === 1) return [element("p", { class: "large" }, texts[0])];
    const row = (text, i) => [element("dt", {}, this.questions[i].text), element("dd", {}, text)];
    return [element("dl", {}, ...texts.flatMap(row))];
  }

  told(state, details = {}) {
    const retry = ["retry", "busy", "offline", "stopped"].includes(state);
    const sentence = state === "refused" ? this.refusal(details) : state === "received" ? "" : speech.say(state, { n: speech.number(details.n ?? 0) });
    byId("delivery").className = `delivery ${state}`;
    byId("delivery").textContent = sentence;
    if (!details.counting) say("announced", sentence);
    byId("send").textContent = retry ? speech.say("again") : byId("send").textContent;
    show(byId("send-row"), state === "kept" || retry);
    byId("send").disabled = state === "sending";
    if (state === "received") this.received(details);
  }

  refusal({ code, reason }) {
    const known = speech.has(code) && code !== "refused";
    if (FINAL.includes(code) || !known) store.pinned = { ...store.pinned, refused: { code, reason } };
    return known ? speech.say(code) : speech.say("refused", { reason });
  }

  received({ stored }) {
    const { token, body } = store.pinned, { plan, report } = JSON.parse(body);
    const record = { plan, report, received: stored };
    // A personal link is used again in the next wave; on an open link the device makes another token.
    store.pinned = survey.waves > 1 && survey.link === "invitations" ? { ...record, token } : record;
    this.receipt(true);
  }

  receipt(focus = false) {
    const record = store.pinned;
    for (const id of ["answering", "review"]) show(byId(id), false);
    show(byId("receipt"));
    byId("receipt-words").replaceChildren(...this.words(record));
    showReceipt(survey, record, speech);
    this.conclusions.write("receipt-");
    if (focus) byId("receipt").querySelector("h2").focus();
  }
}

function say(id, text) {
  byId(id).textContent = text;
}

function tellProblem(error) {
  byId("problem").textContent = error.sentence ?? error.message;
  show(byId("problem"));
}

async function start() {
  const link = readLink(), personal = survey.link === "invitations";
  if (personal && link.t === null && survey.waves > 1) link.t = store.earlierToken();
  store.choose(personal ? link.t : null);
  if (!personal) link.t = null;
  show(byId("unkept"), !store.keeps && survey.state === "open");
  const record = store.pinned, done = record?.received, drawn = record?.body;
  try {
    if (!done && !drawn && survey.state !== "open") return;
    if (!done && !drawn && personal && !TOKEN.test(link.t ?? "")) throw new Stop("link.token");
    const plan = await loadPlan(link);
    const memoised = survey.waves > 1 ? (await import("../client/memoised.js")).MemoisedClient : null;
    const page = new AnswerPage(plan, link, memoised);
    if (done) page.receipt();
    else if (drawn) page.review();
    else page.ask();
  } catch (error) {
    if (done) { // the receipt is shown whatever became of the survey
      for (const id of ["answering", "review"]) show(byId(id), false);
      show(byId("receipt"));
      showReceipt(survey, record, speech);
      return;
    }
    show(byId("answering"), false);
    tellProblem(error);
  }
}

start().finally(() => document.documentElement.setAttribute("data-ready", ""));
