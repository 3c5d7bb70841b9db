// The questions of a survey as cards: written, added, moved and removed, with buttons that a keyboard reaches too.

import { byId, element, show } from "./elements.js";
import { parse, written } from "./numbers.js";
import { page, speech } from "./requests.js";
import { TextPair } from "./text_pairs.js";

const NAME_LETTERS = 32, VALUE_LETTERS = 60;
const copyOf = id => byId(id).content.firstElementChild.cloneNode(true);

/** A name for exports from a text: small letters, digits and _. */
function slug(text, letters) {
  const plain = text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, letters).replace(/_+$/, "");
}

/** The same with a number behind it where it is taken (a Set). */
function unused(name, taken, letters) {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) {
    const tried = `${name.slice(0, letters - String(n).length - 1)}_${n}`;
    if (!taken.has(tried)) return tried;
  }
}

function move(node, by) {
  const other = by < 0 ? node.previousElementSibling : node.nextElementSibling;
  if (!other) return false;
  by < 0 ? other.before(node) : other.after(node);
  return true;
}

class OptionRow {
  constructor(card, option) {
    Object.assign(this, { card, value: option.value ?? "", auto: !option.value });
    this.box = copyOf("option-template");
    const label = option.label ?? {};
    this.texts = new TextPair(this.box, label, () => card.changed());
    this.valueField = element("input", { type: "text", maxlength: VALUE_LETTERS, spellcheck: "false", class: "value" });
    this.valueField.addEventListener("input", () => {
      this.auto = false;
      this.value = this.valueField.value.trim();
      card.changed();
    });
    this.valueBox = element("li", {}, element("label", {}, this.valueName = element("span"), this.valueField));
  }

  number(n, count) {
    if (this.numbered === `${n}/${count}`) return;  // of a thousand answers, one letter changes none
    this.numbered = `${n}/${count}`;
    for (const field of this.texts.fields) {
      field.setAttribute("aria-label", `${speech.say("option", { n })} · ${field.placeholder}`);
    }
    for (const what of ["up", "down", "remove"]) {
      const button = this.box.querySelector(`[data-do=option-${what}]`);
      button.setAttribute("aria-label", speech.say(`option.${what}`, { n }));
      button.title = button.getAttribute("aria-label");
      button.disabled = (what === "up" && n === 1) || (what === "down" && n === count) || (what === "remove" && count <= 2);
    }
    this.valueName.textContent = speech.say("option", { n });
  }

  /** The value that is counted: made from the label until somebody writes one. */
  settle(n, taken) {
    if (this.auto) this.value = unused(slug(TextPair.in(this.texts.value, "en"), VALUE_LETTERS) || `option_${n}`, taken, VALUE_LETTERS);
    if (document.activeElement !== this.valueField) this.valueField.value = this.value;
    return this.value;
  }

  get option() {
    return { value: this.value, label: this.texts.value };
  }
}

export class QuestionCard {
  constructor(list, question) {
    this.list = list;
    this.box = copyOf("question-template");
    this.autoName = !question.name;
    const find = selector => this.box.querySelector(selector);
    Object.assign(this, {
      heading: find("h3"), kind: find(".kind"), optionList: find(".options"), valueList: find(".values"),
      low: find(".low"), high: find(".high"), step: find(".step-size"), name: find(".name"),
    });
    this.text = new TextPair(find("[data-field=text]"), question.text, () => this.changed());
    this.unit = new TextPair(find("[data-field=unit]"), question.unit, () => this.changed());
    this.kind.value = question.kind;
    this.low.value = written(question.low ?? 0, speech.language, 12);
    this.high.value = written(question.high ?? 10, speech.language, 12);
    this.step.value = String(question.step ?? 1);
    this.name.value = question.name ?? "";
    this.name.addEventListener("input", () => {
      this.autoName = !this.name.value.trim();
      this.changed();
    });
    for (const field of [this.low, this.high, this.step]) field.addEventListener("input", () => this.changed());
    this.kind.addEventListener("change", () => this.changed());
    const options = question.options?.length ? question.options : [{}, {}];
    this.options = [];
    options.forEach(option => this.addOption(option));
    this.box.addEventListener("click", event => this.clicked(event));
    this.box.addEventListener("keydown", event => this.typed(event));
    this.box.addEventListener("paste", event => this.pasted(event));
  }

  changed() {
    this.list.changed();
  }

  addOption(option = {}) {
    const row = new OptionRow(this, option);
    this.options.push(row);
    this.optionList.append(row.box);
    this.valueList.append(row.valueBox);
    return row;
  }

  clicked(event) {
    const act = event.target.closest("[data-do]")?.dataset.do;
    if (!act) return;
    const row = this.options.find(one => one.box.contains(event.target));
    if (act === "option-add") {
      this.addOption().texts.fields[0].focus();
      this.changed();
    } else if (act === "option-remove") {
      const place = this.options.indexOf(row);
      row.box.remove();
      row.valueBox.remove();
      this.options.splice(place, 1);
      this.changed();
      this.options[Math.min(place, this.options.length - 1)].texts.fields[0].focus();
      this.list.tell(speech.say("removed"));
    } else if (act.startsWith("option-")) this.moveOption(row, act === "option-up" ? -1 : 1, event.target.closest("button"));
    else this.list.act(this, act, event.target.closest("button"));
  }

  moveOption(row, by, button) {
    if (!move(row.box, by)) return;
    move(row.valueBox, by);
    this.options = [...this.optionList.children].map(box => this.options.find(one => one.box === box));
    this.changed();
    refocus(button, row.box, "option");
    this.list.tell(speech.say("moved", { n: this.options.indexOf(row) + 1 }));
  }

  /** Enter in the last answer adds one; elsewhere it goes on, and never sends the form. */
  typed(event) {
    if (event.key !== "Enter" || event.target.localName !== "input") return;
    event.preventDefault();
    const row = this.options.findIndex(one => one.texts.fields.includes(event.target));
    if (row < 0) return;
    const next = this.options[row + 1] ?? this.addOption();
    this.changed();
    next.texts.fields[event.target.dataset.lang === "fr" ? 1 : 0].focus();
  }

  /** Several lines become several answers, from this one on. */
  pasted(event) {
    const start = this.options.findIndex(one => one.texts.fields.includes(event.target));
    const lines = (event.clipboardData?.getData("text/plain") ?? "").split(/\r?\n/).map(line => line.trim()).filter(Boolean);
    if (start < 0 || lines.length < 2) return;
    event.preventDefault();
    const place = this.options[start].texts.fields.indexOf(event.target), end = Math.min(start + lines.length, page.limits.options);
    while (this.options.length < end) this.addOption();
    for (let i = start; i < end; i++) {
      const { texts } = this.options[i];
      texts.fields[place].value = lines[i - start].slice(0, texts.fields[place].maxLength);
      texts.hint();
    }
    this.changed();
    this.options[end - 1].texts.fields[place].focus();
  }

  /** Numbers, names and what fits the kind. */
  refresh(n, count, names) {
    this.heading.textContent = speech.say("question", { n });
    for (const what of ["up", "down", "remove"]) {
      const button = this.box.querySelector(`[data-do=question-${what}]`);
      button.setAttribute("aria-label", speech.say(`question.${what}`, { n }));
      button.title = button.getAttribute("aria-label");
      button.disabled = (what === "up" && n === 1) || (what === "down" && n === count) || (what === "remove" && count === 1);
    }
    show(this.box.querySelector(".option-part"), this.listed);
    show(this.box.querySelector(".number-part"), this.kind.value === "number");
    show(this.valueList, this.listed);
    this.options.forEach((row, i) => row.number(i + 1, this.options.length));
    const taken = new Set();
    this.options.forEach((row, i) => taken.add(row.settle(i + 1, taken)));
    if (this.autoName) {
      const made = slug(TextPair.in(this.text.value, "en"), NAME_LETTERS).replace(/^[0-9_]+/, "") || `q${n}`;
      const name = unused(made, names, NAME_LETTERS);
      if (document.activeElement !== this.name) this.name.value = name;
      this.made = name;
    } else this.made = this.name.value.trim();
    return this.made;
  }

  /** The first answer that nobody could choose, and why. */
  get fault() {
    if (!this.listed) return null;
    const taken = new Set();
    for (const [place, row] of this.options.entries()) {
      const texts = Object.entries(row.texts.value);
      const twice = texts.some(([language, text]) => taken.has(`${language} ${text}`));
      if (twice || !texts.length) return { place, message: speech.say(twice ? "option.twice" : "option.empty") };
      for (const [language, text] of texts) taken.add(`${language} ${text}`);
    }
    return null;
  }

  get listed() {
    return this.kind.value === "choice" || this.kind.value === "scale";
  }

  get question() {
    const out = { name: this.made, kind: this.kind.value, text: this.text.value };
    if (out.kind === "number") {
      const number = field => (Number.isNaN(parse(field.value)) ? null : parse(field.value));
      return { ...out, low: number(this.low), high: number(this.high), step: Number(this.step.value), unit: this.unit.value };
    }
    return out.kind === "yes-no" ? out : { ...out, options: this.options.map(row => row.option) };
  }
}

/** The same button again or, where it rests now, its neighbour. */
function refocus(button, box, what) {
  const other = button.dataset.do === `${what}-up` ? `${what}-down` : `${what}-up`;
  (button.disabled ? box.querySelector(`[data-do=${other}]`) : button).focus();
}

export class QuestionCards {
  constructor(questions, changed) {
    this.whenChanged = changed;
    this.box = byId("questions");
    this.cards = [];
    questions.forEach(question => this.add(question));
    byId("add-question").addEventListener("click", () => {
      const card = this.add({ kind: "yes-no", text: {} });
      this.changed();
      card.text.fields[speech.language === "fr" ? 1 : 0].focus();
    });
    this.refresh();
  }

  add(question) {
    const card = new QuestionCard(this, question);
    this.cards.push(card);
    this.box.append(card.box);
    return card;
  }

  act(card, act, button) {
    if (act === "question-remove") {
      const place = this.cards.indexOf(card);
      card.box.remove();
      this.cards.splice(place, 1);
      this.changed();
      this.cards[Math.min(place, this.cards.length - 1)].heading.focus();
      this.tell(speech.say("removed"));
    } else if (move(card.box, act === "question-up" ? -1 : 1)) {
      this.cards = [...this.box.children].map(box => this.cards.find(one => one.box === box));
      this.changed();
      refocus(button, card.box, "question");
      this.tell(speech.say("moved", { n: this.cards.indexOf(card) + 1 }));
    }
  }

  tell(text) {
    byId("told").textContent = text;
  }

  refresh() {
    const names = new Set();
    this.cards.forEach((card, i) => names.add(card.refresh(i + 1, this.cards.length, names)));
    byId("add-question").disabled = this.cards.length >= page.limits.questions;
  }

  changed() {
    this.refresh();
    this.whenChanged();
  }

  /** What is wrong with the answers to choose from, as the collector would tell it. */
  get fault() {
    const place = this.cards.findIndex(card => card.fault);
    return place < 0 ? null : { where: `questions[${place}].options[${this.cards[place].fault.place}]`, message: this.cards[place].fault.message };
  }

  get questions() {
    return this.cards.map(card => card.question);
  }
}
