// What somebody who reads the report can conclude: odds, from the integers that were used, not from the stated epsilon.

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
    for (const { digest } of questions) this.store.spend(digest, entry, answers * Math.log(this.perAnswer));
  }

  get spent() {
    const all = this.survey.questions.map(({ digest }) => this.store.spentOn(digest));
    return all.reduce((a, b) => (a.epsilon >= b.epsilon ? a : b));
  }

  /** What a report will tell, before there is one. */
  promise() {
    const { speech, spent, memoised } = this, of = (key, odds) => speech.say(key, { odds: speech.bound(odds) });
    const sentences = [of(this.checked ? "promise" : "odds.stated", this.odds)];
    if (memoised) sentences.push(of("total.waves", this.perAnswer));
    else if (spent.surveys) sentences.push(of("total.soon", Math.exp(spent.epsilon) * this.odds));
    return sentences.join(" ");
  }

  /** Fill in the sentences of a section; prefix: "" or "receipt-". */
  write(prefix) {
    const { speech, spent, several } = this;
    const put = (name, key, fields) => byId(prefix + name)?.replaceChildren(speech.say(key, fields));
    put("odds", this.checked ? `odds${several}` : "odds.stated", { odds: speech.bound(this.odds) });
    put("belief", "belief", { percent: speech.percent(this.odds / (1 + this.odds)) });
    const alone = this.memoised ? "total.waves" : `total.first${several}`;
    put("total", spent.surveys > 1 ? `total${several}` : alone, { odds: speech.bound(Math.exp(spent.epsilon)) });
    this.writeNumbers();
  }

  writeNumbers() {
    const { speech, spent } = this, written = epsilon => (epsilon ? speech.bound(epsilon) : speech.number(0));
    const fields = { epsilon: written(Math.log(this.odds)), total: written(spent.epsilon) };
    byId("numbers").textContent = speech.say("numbers", fields);
  }
}
