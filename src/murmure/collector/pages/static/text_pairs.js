// A text in both languages, side by side; where one is missing, the page says what readers get instead.

import { show } from "./elements.js";

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
    return texts?.[language] || Object.values(texts ?? {}).find(Boolean) || "";
  }
}
