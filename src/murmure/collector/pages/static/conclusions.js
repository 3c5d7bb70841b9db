// What somebody who reads the report can conclude: odds, from the integers that were used, not from the stated epsilon.

import { oddsOf } from "../client/odds.js";
import { byId } from "./elements.js";

export class Conclusions {
  constructor(plan, survey, store, speech) {
    Object.assign(this, { plan, survey, store, speech });
    this.odds = oddsOf(plan);
    this.memoised = survey.waves > 1;
    // Over all waves a memoised answer costs what its kept bits cost.
    this.perAnswer = this.memoised ? oddsOf({ law: plan.law.permanent }) : this.odds;
    this.several = plan.ofRecords ? ".several" : "";
  }

  /** Whether the integers keep to the epsilon that the plan states. What cannot be gone through does not. */
  get honest() {
    const { epsilon } = this.plan;
    return Number.isFinite(this.perAnswer) && (epsilon === null || Math.log(this.perAnswer) <= epsilon + 1e-9);
  }

  /** What this report is noted under. All waves of one answer count once. */
  get entry() {
    const { id, wave } = this.survey, { owner } = this.store;
    return `${id}${this.memoised ? "" : `:${wave}`}${owner}`;
  }

  /** Note what this report costs, under each question; memoised waves count once for each answer they were about. */
  spend(answers) {
    const { entry } = this;
    for (const { digest } of this.survey.questions) this.store.spend(digest, entry, answers * Math.log(this.perAnswer));
  }

  /** Of the question that most was spent on: this report (here), and all others (elsewhere; null: there are none). */
  get spent() {
    const { entry, store } = this;
    const all = this.survey.questions.map(({ digest }) => {
      return { here: store.spentHere(digest, entry), elsewhere: store.spentElsewhere(digest, entry) };
    });
    return all.reduce((a, b) => (a.here + a.elsewhere >= b.here + b.elsewhere ? a : b));
  }

  /** What a report will tell, before there is one. */
  promise() {
    const { speech, several } = this, { here, elsewhere } = this.spent;
    const of = (key, odds) => speech.say(key, { odds: speech.bound(odds) });
    const cost = this.memoised ? Math.max(here, Math.log(this.perAnswer)) : Math.log(this.odds);
    const sentences = [of(`promise${several}`, this.odds)];
    if (elsewhere !== null) sentences.push(of("total.soon", Math.exp(cost + elsewhere)));
    else if (this.memoised) sentences.push(this.ofWaves(cost));
    return sentences.join(" ");
  }

  /** All waves together, about one answer or, where it has changed, about those that reports were made about. */
  ofWaves(epsilon) {
    const { speech } = this, key = epsilon > 1.5 * Math.log(this.perAnswer) ? "total.changed" : "total.waves";
    return speech.say(key, { odds: speech.bound(Math.exp(epsilon)) });
  }

  /** Fill in the sentences of a section; prefix: "" or "receipt-". */
  write(prefix) {
    const { speech, several } = this, { here, elsewhere } = this.spent;
    const put = (name, text) => byId(prefix + name)?.replaceChildren(text);
    put("odds", speech.say(`odds${several}`, { odds: speech.bound(this.odds) }));
    put("belief", speech.say("belief", { percent: speech.belief(this.odds) }));
    const total = { odds: speech.bound(Math.exp(here + elsewhere)) };
    if (elsewhere !== null) put("total", speech.say(`total${several}`, total));
    else put("total", this.memoised ? this.ofWaves(here) : speech.say(`total.first${several}`));
    this.writeNumbers();
  }

  writeNumbers() {
    const { speech } = this, { here, elsewhere } = this.spent, all = here + elsewhere;
    const fields = { epsilon: speech.bound(Math.log(this.odds)), total: all ? speech.bound(all) : speech.number(0) };
    byId("numbers").textContent = speech.say("numbers", fields);
  }
}
