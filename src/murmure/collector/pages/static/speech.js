// Sentences and numbers in the language of the page. Sentences are templates with {fields}, from the message catalogue.

export class Speech {
  constructor(words) {
    this.words = words;
    this.language = words.language;
  }

  say(key, fields = {}) {
    return this.words[key].replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
  }

  /** The key of the sentence for a code of the collector: "refused.spent", or "refused" where there is none. */
  keyOf(head, code) {
    return Object.hasOwn(this.words, `${head}.${code}`) ? `${head}.${code}` : head;
  }

  number(value, options = { maximumFractionDigits: 6 }) {
    return new Intl.NumberFormat(this.language, options).format(value).replace("-", "−"); // a minus, as elsewhere on the pages
  }

  /** A bound of three digits, rounded up: "at most 2.72" must be true. */
  bound(value) {
    const digits = Math.max(0, 2 - Math.floor(Math.log10(value)));
    const up = Math.ceil(value * 10 ** digits - 1e-9) / 10 ** digits;
    return this.number(up, { maximumFractionDigits: digits });
  }

  /** A share, rounded up, with the digits that certainty lacks. rest: one minus the share, where that is known better. */
  percent(share, rest = 1 - share) {
    const digits = rest > 0 ? Math.min(12, Math.max(0, Math.ceil(-Math.log10(99 * rest)))) : 0, unit = 10 ** (digits + 2);
    return this.number(Math.ceil(share * unit - 1e-9) / unit, { style: "percent", maximumFractionDigits: digits });
  }

  /** How sure somebody can be who found two answers equally likely. */
  belief(odds) {
    return this.percent(odds / (1 + odds), 1 / (1 + odds));
  }
}
