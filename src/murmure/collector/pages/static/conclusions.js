// What somebody who reads the report can conclude: odds, from the integers that were used, never from the stated epsilon.

import { oddsOf } from "../client/odds.js";
import { byId } from "./elements.js";

export class Conclusions {
  constructor(plan, survey, store, speech) {
    Object.assign(this, { plan, survey, store, speech });
    const found = oddsOf(plan);
    this.checked = Number.isFinite(found); // larger tables are not gone through
    this.odds = this.checked ? found : Math.exp(plan.epsilon);
    this.memoised = survey.waves > 1;
    // Over all waves a memoised answer costs what its kept bits cost.
    this.perAnswer = this.memoised ? oddsOf({ law: plan.law.permanent }) : this.odds;
    this.several = plan.ofRecords ? ".several" : "";
  }

  /** Note what this report costs, under each question; memoised waves count once for each answer they were about. */
  spend(answers) {
    const { id, wave, questions } = this.survey, entry = this.memoised ? id : `${id}:${wave}`;
    for (const { texts } of questions) this.store.spend(texts, entry, answers * Math.log(this.perAnswer));
  }

  get spent() {
    const all = this.survey.questions.map(({ texts }) => this.store.spentOn(texts));
    return all.reduce((a, b) => (a.epsilon >= b.epsilon ? a : b));
  }

  promise() {
    const odds = this.speech.bound(this.odds);
    return this.speech.say(this.checked ? "promise" : "odds.stated", { odds });
  }

  /** Fill in the sentences of a section; prefix: "" or "receipt-". */
  write(prefix) {
    const { speech, spent } = this, put = (name, text) => (byId(prefix + name) ? (byId(prefix + name).textContent = text) : null);
    const odds = speech.bound(this.odds);
    put("odds", this.checked ? speech.say(`odds${this.several}`, { odds }) : speech.say("odds.stated", { odds }));
    put("belief", speech.say("belief", { percent: speech.percent(this.odds / (1 + this.odds)) }));
    const total = speech.bound(Math.exp(spent.epsilon));
    if (spent.surveys > 1) put("total", speech.say(`total${this.several}`, { odds: total }));
    else put("total", this.memoised ? speech.say("total.waves", { odds: total }) : speech.say(`total.first${this.several}`));
    this.writeNumbers();
  }

  writeNumbers() {
    const { speech, spent } = this, written = epsilon => (epsilon ? speech.bound(epsilon) : speech.number(0));
    const fields = { epsilon: written(Math.log(this.odds)), total: written(spent.epsilon) };
    byId("numbers").textContent = speech.say("numbers", fields);
  }
}
