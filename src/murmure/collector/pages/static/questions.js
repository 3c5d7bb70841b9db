// Questions as they stand on the page: reading the answers that were given, and the words of every code.

import { byId } from "./elements.js";
import { readings } from "./typed_number.js";

export class AskedQuestion {
  constructor(data, place, domain) {
    Object.assign(this, data);
    this.domain = domain; // of the plan: it gives each answer its code; options have the order of its values
    this.field = byId(`q${place + 1}`);
    const find = selector => [...(this.field?.querySelectorAll(selector) ?? [])];
    this.inputs = find("input, select");
    this.labels = data.labels ?? find("label, option[value]:not([value=''])").map(node => node.textContent.trim());
  }

  /** The answer as the plan takes it; undefined: none, or not one that is allowed. */
  get given() {
    if (this.kind === "number") return this.typed;
    const [first] = this.inputs;
    const chosen = first.localName === "select" ? first.value : this.inputs.find(input => input.checked)?.value ?? "";
    return chosen === "" ? undefined : this.domain.list[Number(chosen)];
  }

  /** The number in the field, if only one is meant that is allowed. */
  get typed() {
    const [input] = this.inputs, { low, high, step } = this;
    const onStep = value => Math.abs((value - low) / step - Math.round((value - low) / step)) < 1e-6;
    const fitting = readings(input.value, document.documentElement.lang).filter(n => n >= low && n <= high && onStep(n));
    return new Set(fitting).size === 1 ? fitting[0] : undefined;
  }

  /** The code of the answer that is given so far, for the picture. */
  get code() {
    const { given } = this;
    return given === undefined ? undefined : this.domain.encode(given);
  }

  /** The words of an answer. */
  inWords(given, speech) {
    return this.kind === "number" ? this.amount(given, speech) : this.labels[this.domain.encode(given)];
  }

  /** The words of a code; a code beyond the ends is a number beyond the range. */
  answer(code, speech) {
    const { list, ten, first, low, high, size } = this.domain;
    if (list) return this.labels[code];
    const value = ten ? (first + code) / ten : Number.isInteger(low) && high - low === size - 1 ? low + code : null;
    return this.amount(value ?? low + ((code + 0.5) / size) * (high - low), speech); // a grid: the middle of its cell
  }

  amount(value, speech) {
    const places = Math.max(0, Math.round(-Math.log10(this.step)));
    const number = speech.number(value, { maximumFractionDigits: places });
    return this.unit ? `${number}\u00a0${this.unit}` : number;
  }

  /** Say what is missing next to the question; true: nothing is. */
  check(speech) {
    const fine = this.given !== undefined, fault = this.field.querySelector(".fault");
    fault.hidden = fine;
    if (fine) fault.textContent = "";
    else if (this.kind !== "number") fault.textContent = speech.say("choose");
    else {
      const fields = ["low", "high", "step"].map(name => [name, speech.number(this[name])]);
      fault.textContent = speech.say("number", Object.fromEntries(fields));
    }
    for (const input of this.inputs) input.setAttribute("aria-invalid", String(!fine));
    this.field.classList.toggle("faulty", !fine);
    return fine;
  }

  /** Forget what was given: nothing of it stays in the page's fields. */
  clear() {
    for (const input of this.inputs) {
      input.checked = false;
      input.value = input.type === "radio" ? input.value : "";
    }
  }
}
