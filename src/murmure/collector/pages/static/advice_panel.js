// One number is typed, the wanted margin or epsilon, and the collector says the other; beside it, what both mean.

import { byId, element, hundredDots, show } from "./elements.js";
import { parse, written } from "./numbers.js";
import { Refusal, page, send, speech } from "./requests.js";

const WAIT = 350, STEPS = 200, LOW = 0.1, HIGH = 6;  // the slider is for usual epsilons; the field takes all
const two = value => speech.number(value, { maximumSignificantDigits: 2 });
const three = value => speech.number(value, { maximumSignificantDigits: 3 });
const whole = text => text.replaceAll("± ", "±\u00a0");  // no line ends between the two
const paragraph = (text, kind) => element("p", kind ? { class: kind } : {}, whole(text));

export class AdvicePanel {
  /** document(): the survey as it is now. changed(): called when epsilon was moved. */
  constructor(document, start, changed) {
    Object.assign(this, { document, changed, driver: "epsilon", epsilon: start, margin: null, asked: 0 });
    this.fields = { margin: byId("margin"), epsilon: byId("epsilon") };
    this.slider = byId("slide");
    this.fields.epsilon.value = written(start, speech.language);
    for (const [name, field] of Object.entries(this.fields)) {
      field.addEventListener("input", () => {
        const value = parse(field.value);
        if (Number.isNaN(value)) return;
        this.drive(name, value);
      });
    }
    this.slider.addEventListener("input", () => {
      const value = Number((LOW * (HIGH / LOW) ** (Number(this.slider.value) / STEPS)).toPrecision(2));
      this.fields.epsilon.value = written(value, speech.language);
      this.drive("epsilon", value, true);
    });
    this.show();
    this.now();
  }

  drive(name, value, sliding = false) {
    this.driver = name;
    this[name] = value;
    this.show(sliding);
    this.changed();
  }

  show(sliding = false) {
    for (const name of Object.keys(this.fields)) {
      const driving = name === this.driver;
      byId(`${name}-role`).textContent = speech.say(driving ? "driver" : "follows");
      this.fields[name].closest(".field").classList.toggle("driving", driving);
    }
    if (!sliding && this.epsilon > 0) {
      this.slider.value = Math.round(STEPS * Math.log(this.epsilon / LOW) / Math.log(HIGH / LOW));
    }
    this.slider.setAttribute("aria-valuetext", `epsilon ${three(this.epsilon)}`);
  }

  /** After a change somewhere: ask when nothing has been typed for a moment. */
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), WAIT);
  }

  async now() {
    const number = ++this.asked, survey = this.document();
    delete survey.epsilon;
    try {
      const advice = await send("POST", "/api/advice", { survey, [this.driver]: this[this.driver] });
      if (advice.refused) throw new Refusal(advice.refused);
      if (number === this.asked) this.take(advice);
    } catch (refusal) {
      if (number === this.asked) this.refuse(refusal);
    }
  }

  take(advice) {
    this.latest = advice;
    this.epsilon = advice.epsilon;
    this.margin = advice.margin;
    const other = this.driver === "margin" ? "epsilon" : "margin";
    this.fields[other].value = written(advice[other], speech.language);
    byId("margin-unit").textContent = speech.say(advice.unit);
    this.show(document.activeElement === this.slider);
    this.problem = null;
    this.fault("margin");
    this.fault("epsilon");
    byId("advice-body").replaceChildren(...this.words(advice));
    byId("advice-how-body").replaceChildren(...this.how(advice));
    show(byId("advice-how"));
    const unit = speech.say(advice.unit);
    byId("advised").textContent = speech.say("advised", { epsilon: three(advice.epsilon), margin: two(advice.margin), unit });
  }

  refuse(refusal) {
    this.problem = refusal;
    this.fault("margin", refusal.where === "margin" ? refusal.beside : "");
    this.fault("epsilon", refusal.where === "epsilon" ? refusal.beside : "");
    this.latest = null; // figures of another survey
    this.fields[this.driver === "margin" ? "epsilon" : "margin"].value = "";
    byId("advice-body").replaceChildren(paragraph(refusal.message, "note"));
    show(byId("advice-how"), false);
  }

  fault(name, text = "") {
    const place = this.fields[name].closest(".field").querySelector(".fault");
    place.textContent = text;
    place.hidden = !text;
    this.fields[name].setAttribute("aria-invalid", Boolean(text));
  }

  words(advice) {
    const { unit, waves, questions } = advice, each = Object.values(questions), many = each.length > 1;
    const hundred = each[0]?.hundred;
    const dots = hundred && hundredDots([Math.round(hundred[0]), 100 - Math.round(hundred[0])], "");
    dots?.setAttribute("aria-hidden", "true");
    const precise = { people: speech.number(advice.people), margin: two(advice.margin) };
    const useless = unit !== "value" && advice.margin > 40;
    return [
      element("p", { class: "big" }, element("b", {}, `× ${speech.bound(advice.odds)}`), element("span", {}, speech.say("odds", { odds: speech.bound(advice.odds) }))),
      paragraph(speech.say("belief", { percent: speech.percent(advice.belief) })),
      ...(hundred ? [element("div", { class: "hundred" }, dots, element("div", {},
        paragraph(speech.say("hundred", { p: Math.round(hundred[0]), q: Math.round(hundred[1]) })),
        ...(many ? [paragraph(speech.say("hundred.first"), "note")] : [])))] : []),
      ...(waves ? [paragraph(speech.say("waves", { n: waves.count, odds: speech.bound(waves.odds), epsilon: three(waves.epsilon) }))] : []),
      element("p", { class: "big" }, element("b", {}, `± ${two(advice.margin)}`), element("span", {}, whole(speech.say(`precise.${unit}`, precise)))),
      ...(useless ? [paragraph(speech.say("useless"), "warning")] : []),
      ...(many ? [this.table(questions)] : []),
      ...(advice.leverage ? [paragraph(`${speech.say("forged", { n: speech.bound(advice.leverage) })} ${this.forged(each)}`)] : []),
    ];
  }

  /** Which mechanism, why, and what is certified. */
  how(advice) {
    const { epsilon, method } = advice.certificate;
    return [
      paragraph(`${speech.say("mechanism", { name: advice.mechanism })} ${advice.why}`, "note"),
      paragraph(speech.say("certificate", { epsilon: this.exact(epsilon), method: this.sentence(method) }), "note"),
    ];
  }

  forged(each) {
    const worst = each.filter(one => one.leverage).sort((a, b) => b.leverage - a.leverage)[0];
    return speech.say(`forged.${worst.unit}`, { moved: speech.bound(worst.forged_1_percent) });
  }

  sentence(text) {
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }

  exact(epsilon) {
    return speech.number(Math.ceil(epsilon * 1e4 - 1e-6) / 1e4, { maximumFractionDigits: 4 });
  }

  table(questions) {
    const rows = Object.entries(questions).map(([name, one]) => element("tr", {},
      element("th", { scope: "row" }, ...breakable(name)),
      element("td", {}, one.margin === null ? "–" : speech.say(`margin.${one.unit}`, { margin: two(one.margin) })),
      element("td", {}, one.leverage === null ? "–" : speech.say("people", { n: speech.bound(one.leverage) }))));
    const heads = ["question", "margin", "forged"].map(name => element("th", { scope: "col" }, speech.say(`table.${name}`)));
    return element("table", { class: "advice-table" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  }
}

/** A name of exports, which may be broken behind each _. */
const breakable = name => name.match(/[^_]*_|[^_]+$/g).flatMap((part, i) => (i ? [element("wbr"), part] : [part]));
