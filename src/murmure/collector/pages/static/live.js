// Figures that follow the reports: the part of the page is asked for again and again, and swapped when it is a new one.

import { byId } from "./elements.js";
import { speech, tell } from "./requests.js";

const EVERY = 2000, SPOKEN_EVERY = 20_000, SLOW = 15_000;

/** Folds that are open and the place of the focus survive a swap. */
function remember(part) {
  const folds = [...part.querySelectorAll("details")].map(fold => fold.open);
  const scrolled = [...part.querySelectorAll(".scroll")].map(box => box.scrollLeft);
  const targets = [...part.querySelectorAll("summary, .scroll, a, button, pre")];
  const focused = targets.indexOf(document.activeElement);
  return () => {
    [...part.querySelectorAll("details")].forEach((fold, i) => (fold.open = folds[i] ?? false));
    [...part.querySelectorAll(".scroll")].forEach((box, i) => (box.scrollLeft = scrolled[i] ?? 0));
    if (focused >= 0) [...part.querySelectorAll("summary, .scroll, a, button, pre")][focused]?.focus({ preventScroll: true });
  };
}

export class LivePart {
  /** address(): where the part is now. changed(answers): called after each swap. */
  constructor(address, changed = () => {}) {
    Object.assign(this, { address, changed, etag: null, paused: false, failures: 0, spoken: 0 });
    this.part = byId("live");
    this.pause = byId("pause");
    this.pause?.addEventListener("click", () => this.toggle());
    document.addEventListener("visibilitychange", () => document.hidden || this.now());
    this.timer = setTimeout(() => this.now(), EVERY);
  }

  toggle() {
    this.paused = !this.paused;
    this.pause.setAttribute("aria-pressed", this.paused);
    this.pause.textContent = speech.say(this.paused ? "resume" : "pause");
    this.show();
    if (!this.paused) this.now();
  }

  show() {
    const pulse = byId("pulse");
    if (pulse) {
      pulse.textContent = speech.say(this.paused ? "paused" : "live");
      pulse.classList.toggle("still", this.paused || this.failures > 1);
    }
    tell(byId("lost"), this.failures > 1 ? speech.say("lost") : "");
  }

  /** Ask at once; another address (attack or not) has another part. */
  async now() {
    clearTimeout(this.timer);
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    do {
      this.again = false;
      if (!this.paused && !document.hidden) await this.ask();
    } while (this.again);
    this.asking = false;
    const wait = this.failures ? Math.min(SLOW, EVERY * 2 ** this.failures) : EVERY;
    this.timer = setTimeout(() => this.now(), wait);
  }

  async ask() {
    const address = this.address();
    try {
      const headers = this.etag && this.asked === address ? { "If-None-Match": this.etag } : {};
      const answer = await fetch(address, { headers, cache: "no-store" });
      const html = await answer.text();  // also of an empty answer: one that nobody reads counts as a request that failed
      if (answer.status === 200) {
        this.swap(html);
        this.etag = answer.headers.get("ETag");
        this.asked = address;
      } else if (answer.status !== 304) throw new Error(String(answer.status));
      this.failures = 0;
    } catch {
      this.failures += 1;
    }
    this.show();
  }

  swap(html) {
    const back = remember(this.part);
    const fresh = new DOMParser().parseFromString(html, "text/html");
    this.part.replaceChildren(...fresh.body.children);
    back();
    const answers = Number(this.part.querySelector("[data-answers]")?.dataset.answers ?? 0);
    if (Date.now() - this.spoken > SPOKEN_EVERY) {  // a screen reader is not told of every report
      this.spoken = Date.now();
      byId("heard").textContent = speech.say("answers", { n: speech.number(answers) });
    }
    this.changed(answers);
  }
}
