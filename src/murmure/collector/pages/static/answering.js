// The questions, and the one draw: from the answers on the page to a report that is kept.

import { askCoins } from "./delivery.js";
import { byId, element, show } from "./elements.js";
import { coinPicture } from "./law_in_words.js";
import { Stop, tellProblem } from "./report_view.js";

export class Answering {
  /** memoised: the class of the client for waves, if there are several. */
  constructor(view, link, memoised) {
    const { plan, survey, store, speech, questions, conclusions } = view;
    Object.assign(this, { view, link, memoised, plan, survey, store, speech, questions, conclusions });
  }

  ask() {
    const section = byId("answering"), button = byId("randomise");
    this.drawPicture();
    byId("promise").textContent = this.conclusions.promise();
    button.disabled = false;
    button.addEventListener("click", () => this.randomise());
    addEventListener("pageshow", () => this.drawPicture()); // it was emptied when the page was left
    section.addEventListener("input", event => {
      const question = this.questions.find(({ inputs }) => inputs.includes(event.target));
      if (question?.field.classList.contains("faulty")) question.check(this.speech);
      this.drawPicture();
    });
    section.addEventListener("keydown", event => {
      if (event.key === "Enter" && event.target.type === "text") this.randomise();
    });
  }

  drawPicture() {
    byId("picture").replaceChildren(...coinPicture(this.plan, this.questions, this.speech));
  }

  /** Once: from here on there is a report, whatever happens to the page. */
  async randomise(extraAnswers = 0) {
    const { questions, speech, store } = this, button = byId("randomise");
    const faulty = questions.filter(question => !question.check(speech));
    if (faulty.length) faulty[0].inputs[0].focus();
    if (faulty.length || button.disabled) return;
    button.disabled = true;
    show(byId("problem"), false);
    const given = questions.map(question => question.given);
    try {
      const own = this.link.t ?? store.pinned?.token ?? store.makeToken(), { token, coins } = await this.register(own);
      if (store.drawn) { // in another tab, while coins were on their way or this page lay in the history
        location.reload();
        return;
      }
      const record = this.pin(token, this.report(given, coins, extraAnswers));
      this.view.forget();
      this.view.review(record, questions.map((question, i) => question.inWords(given[i], speech)));
    } catch (error) {
      button.disabled = false;
      if (error.code === "values-spent") this.offerChange();
      else tellProblem(error, speech);
    }
  }

  /** Public coins come from the collector, for a token that is fixed and counted before they are known. With them
   * comes the token that the report is sent with: one that was not registered is refused. */
  async register(token) {
    const { survey, store, speech } = this, waiting = byId("waiting");
    if (!survey.coins) return { token, coins: null };
    store.pinned = { token };
    waiting.textContent = speech.say("coins.waiting");
    try {
      return await askCoins(survey.id, token);
    } catch (error) {
      throw new Stop(speech, speech.keyOf("coins", error.code), { reason: error.message });
    } finally {
      waiting.textContent = "";
    }
  }

  report(given, coins, extraAnswers) {
    const { plan, survey, store, questions } = this;
    if (!this.memoised) {
      const record = () => Object.fromEntries(questions.map(({ name }, i) => [name, given[i]]));
      return plan.report(plan.ofRecords ? record() : given[0], { coins }).report;
    }
    const { key, seen } = store.memo, question = `${survey.id}:${questions[0].name}`;
    store.memo = { key, seen }; // before it is used: a key that is lost would cost its epsilon again
    const client = new this.memoised(plan, { key, question, seen, values: Math.max(1, seen.length + extraAnswers) });
    const { report } = client.report(given[0]);
    store.memo = { key, seen: client.seen };
    return report;
  }

  /** The report is kept before anything is sent; what it costs is noted, and the link's token has its place there. */
  pin(token, report) {
    const { plan, survey, store } = this;
    const body = JSON.stringify({ token, wave: survey.wave, plan: plan.digest, report });
    const record = { token, body, asked: false };
    store.pinned = record;
    this.conclusions.spend(this.memoised ? store.memo.seen.length : 1);
    store.link = null;
    return record;
  }

  /** In another wave the answer may have changed; a second answer costs as much again, so people are asked. */
  offerChange() {
    const { speech, store, conclusions } = this, answers = store.memo.seen.length + 1;
    const odds = speech.bound(conclusions.perAnswer ** answers);
    const go = element("button", { type: "button" }, speech.say("changed.go"));
    go.addEventListener("click", () => this.randomise(1));
    tellProblem({ sentence: speech.say("changed", { odds }) }, speech, element("p", {}, go));
    go.focus();
  }
}
