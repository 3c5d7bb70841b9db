// A coin chooses one of two laws, and the report shows which one it was. The same as src/murmure/laws/tagged.py: both
// laws read the second word, since only one of the two reports is used.

import { bigInteger, exactly } from "./integers.js";
import { TableLaw } from "./table.js";
import { WindowLaw } from "./window.js";

export class TaggedLaw {
  constructor(law, inputs, owner) {
    exactly(law, owner, ["law", "coin", "first", "second"], "tagged");
    this.inputs = inputs;
    this.coin = bigInteger(law, "coin", owner);
    this.first = new WindowLaw(law.first, inputs, `${owner}.first`);
    this.second = new TableLaw(law.second, inputs, `${owner}.second`);
    this.reports = this.first.reports + this.second.reports;
  }

  draw(x, words) {
    const range = words.take(2), u = range.big(1);
    const one = this.first.pick(x, u), two = this.first.reports + this.second.pick(x, u);
    return range.big(0) < this.coin ? one : two;
  }
}
