// A window of likely reports that moves with the input; all other reports are equally unlikely.
// The same as src/murmure/laws/window.py, one word a report.

import { WORD, bigInteger, exactly, smallInteger } from "./integers.js";
import { Refusal } from "./refusal.js";

const MAX = 2 ** 40; // outputs; a grid has far fewer

export class WindowLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "outputs", "length", "step", "shift", "outside"], "window");
    this.inputs = inputs;
    this.outputs = smallInteger(law, "outputs", owner, 2, MAX);
    this.length = smallInteger(law, "length", owner, 1, this.outputs - 1);
    this.step = smallInteger(law, "step", owner, 0, MAX);
    this.shift = smallInteger(law, "shift", owner, 0, MAX);
    this.outside = bigInteger(law, "outside", owner);
    // Words below `body` give a likely report. What division leaves over goes to the first of them, one unit each.
    this.body = WORD - BigInt(this.outputs - this.length) * this.outside;
    this.inside = this.body / BigInt(this.length);
    this.rest = this.body % BigInt(this.length);
    this.cut = this.rest * (this.inside + 1n);
    if (this.body < 1n || this.inside < this.outside) {
      const wanted = "small enough that likely reports are no rarer than the others";
      throw new Refusal("integers", { owner, name: "outside", wanted, got: `${this.outside}` });
    }
    // It stops at the ends of as many reports as inputs, or slides over all reports, from the first to the last.
    const stops = this.outputs === inputs && this.step === 1;
    if (!stops && !(this.shift === 0 && this.step * (inputs - 1) === this.outputs - this.length)) {
      const wanted = "such that the window moves over all reports";
      throw new Refusal("integers", { owner, name: "step", wanted, got: `${this.step}` });
    }
    this.reports = this.outputs;
  }

  /** Generalised randomised response: the report is one of the inputs. */
  get plain() {
    return this.length === 1 && this.step === 1 && this.shift === 0 && this.outputs === this.inputs;
  }

  draw(x, words) {
    return this.pick(x, words.take(1).big(0));
  }

  pick(x, u) {
    const start = Math.min(Math.max(x * this.step - this.shift, 0), this.outputs - this.length);
    if (u >= this.body) {
      const other = Number((u - this.body) / this.outside); // the unlikely reports in order, skipping the window
      return other >= start ? other + this.length : other;
    }
    const within = u < this.cut ? u / (this.inside + 1n) : (u - this.cut) / this.inside + this.rest;
    return start + Number(within);
  }
}
