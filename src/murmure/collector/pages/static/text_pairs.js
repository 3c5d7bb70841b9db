// A text in both languages, side by side; where one is missing, the page says what readers get instead.

import { show } from "./elements.js";

/** As French is set, and as respondents will see it: no line begins with the mark that a plain space was typed before. */
const frenchSpaces = text => text.replace(/ ([?!;»])/g, "\u202f$1").replaceAll("« ", "«\u202f").replaceAll(" :", "\u00a0:");

export class TextPair {
  constructor(box, value = {}, changed = () => {}) {
    this.fields = [...box.querySelectorAll("[data-lang]")];
    for (const field of this.fields) {
      field.value = value[field.dataset.lang] ?? "";
      field.addEventListener("input", () => {
        this.hint();
        changed();
      });
    }
    this.hint();
  }

  hint() {
    const some = this.fields.some(field => field.value.trim());
    for (const field of this.fields) {
      const missing = field.closest(".field")?.querySelector(".missing");
      if (missing) show(missing, some && !field.value.trim());
    }
  }

  /** By language, without those that are not written. */
  get value() {
    const texts = this.fields.map(field => [field.dataset.lang, field.value.trim()]);
    return Object.fromEntries(texts.filter(([, text]) => text));
  }

  /** In this language or, if it is not written, in the other. */
  static in(texts, language) {
    const code = texts?.[language] ? language : Object.keys(texts ?? {}).find(other => texts[other]);
    return code === "fr" ? frenchSpaces(texts.fr) : texts?.[code] ?? "";
  }
}
