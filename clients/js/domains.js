// What one person may answer, and the code of each answer: the same codes as src/murmure/core/domain.py gives.
// An answer that the domain does not hold is refused, or moved to the nearest where the plan says so ("clamp"). Rows
// that a table would leave out ("drop") are refused too: here is only one, and its author can correct it.

import { UNITS, dateMeaning, labelOf } from "./dates.js";
import { CLOSE, MAX_15_DIGITS, UNKNOWN, meaning, rint, rounded } from "./meaning.js";
import { Refusal, kindOf, shown } from "./refusal.js";

const MAX_SIZE = 2 ** 31;
const FIELDS = {
  Categories: ["values"],
  Integers: ["low", "high"],
  Interval: ["low", "high", "cells"],
  Decimals: ["low", "high", "places", "rounding"],
  Dates: ["first", "last", "unit"],
};
export const OUTSIDE = Symbol("outside"); // the place of an answer that is a number, and not one of the domain

/** The domain that a plan's JSON describes. */
export function readDomain(json, owner) {
  const kind = json?.type;
  if (typeof kind !== "string" || !Object.hasOwn(FIELDS, kind)) {
    throw new Refusal("domain", { owner, wanted: `one of ${Object.keys(FIELDS).join(", ")}`, got: shown(kind) });
  }
  const wanted = ["type", "column", ...FIELDS[kind]], optional = ["absent", "outside"];
  const fields = Object.keys(json);
  if (!wanted.every(name => fields.includes(name)) || !fields.every(name => [...wanted, ...optional].includes(name))) {
    throw new Refusal("domain", { owner, wanted: `${kind} with ${wanted.slice(1).join(", ")}`, got: shown(fields) });
  }
  const domain = new { Categories, Integers, Interval, Decimals, Dates }[kind](json, owner);
  const { absent } = domain; // what a missing answer counts as
  if (absent !== null && !Number.isInteger(domain.code(domain.meant(absent)))) {
    domain.refuse(owner, `one whose constant for missing answers is ${domain.describe()}`, absent);
  }
  return domain;
}

class Domain {
  another = "another number"; // what an answer outside is called

  constructor({ column, absent = null, outside = "refuse" }, owner) {
    this.owner = column ?? owner;
    this.absent = absent;
    this.outside = outside;
    if (!["refuse", "clamp", "drop"].includes(outside)) this.refuse(owner, "with a known rule for other values", outside);
  }

  refuse(owner, wanted, got) {
    throw new Refusal("domain", { owner, wanted, got: shown(got) });
  }

  /** The code of an answer. `owner` is the name of the question. */
  encode(answer) {
    const meant = this.meant(answer);
    if (meant === null) {
      if (this.absent === null) throw new Refusal("missing", { owner: this.owner, wanted: this.describe() });
      return this.code(this.meant(this.absent));
    }
    const code = this.code(meant);
    if (Number.isInteger(code)) return code;
    if (code === OUTSIDE && this.outside === "clamp") return this.nearest(meant);
    const got = typeof meant === "number" ? this.another : typeof meant === "string" ? "another text" : kindOf(answer);
    throw new Refusal("outside", { owner: this.owner, wanted: this.describe(), got });
  }

  meant(answer) {
    return meaning(answer);
  }
}

/** A number as it was typed or chosen: a text is rounded to 15 digits, a number is taken as it is. */
class NumberDomain extends Domain {
  meant(answer) {
    return typeof answer === "number" && !Number.isNaN(answer) ? answer + 0 : meaning(answer);
  }
}

class Categories extends NumberDomain {
  constructor(json, owner) {
    super(json, owner);
    if (this.outside === "clamp") this.refuse(owner, "without clamping: labels have no order", this.outside);
    if (typeof json.values === "number") {
      if (!Number.isInteger(json.values) || json.values < 2 || json.values > MAX_SIZE) {
        this.refuse(owner, "at least two answers", json.values);
      }
      this.size = json.values;
      this.labels = null;
      return;
    }
    const labels = Array.isArray(json.values) ? json.values : [];
    this.labels = new Map(labels.map((label, code) => [meaning(label), code]));
    this.size = labels.length;
    if (this.size < 2 || this.labels.size < this.size || this.labels.has(null) || this.labels.has(UNKNOWN)) {
      this.refuse(owner, "at least two labels, all of them different", json.values);
    }
    this.list = labels;
  }

  meant(answer) {
    return this.labels === null ? super.meant(answer) : meaning(answer);
  }

  code(meant) {
    return this.labels === null ? wholeCode(meant, 0, this.size - 1) : this.labels.get(meant);
  }

  describe() {
    return this.labels === null ? `a whole number from 0 to ${this.size - 1}` : `one of ${shown(this.list)}`;
  }
}

class Integers extends NumberDomain {
  constructor(json, owner) {
    super(json, owner);
    Object.assign(this, { low: json.low, high: json.high });
    const good = [this.low, this.high].every(bound => Number.isInteger(bound) && Math.abs(bound) < MAX_15_DIGITS);
    if (!good || this.high <= this.low || this.high - this.low >= MAX_SIZE) {
      this.refuse(owner, "whole numbers with low < high", [this.low, this.high]);
    }
    this.size = this.high - this.low + 1;
  }

  code(meant) {
    return wholeCode(meant, this.low, this.high);
  }

  nearest(meant) {
    const x = Math.min(Math.max(meant, this.low), this.high), step = rint(x);
    const middle = Math.abs(x - step) >= 0.5 - CLOSE * Math.abs(x);
    return (middle ? rint(rounded(x)) : step) - this.low;
  }

  describe() {
    return `a whole number from ${this.low} to ${this.high}`;
  }
}

/** Next to a whole number a float is rounded to 15 digits: a parser may be off by one in the last place. */
function wholeCode(meant, low, high) {
  if (typeof meant !== "number") return undefined;
  const off = Math.abs(meant - rint(meant)), near = off > 0 && off <= CLOSE * Math.abs(meant);
  const x = near ? rounded(meant) : meant;
  return Number.isSafeInteger(x) && x >= low && x <= high ? x - low : OUTSIDE;
}

/** Whether a number lies between the bounds. Next to a bound it is rounded to 15 digits first. */
function between(x, low, high) {
  if (x >= low && x <= high) return true;
  const close = CLOSE * Math.max(Math.abs(low), Math.abs(high));
  if (!(x >= low - close && x <= high + close)) return false;
  return rounded(x) >= low && rounded(x) <= high;
}

class Interval extends NumberDomain {
  constructor(json, owner) {
    super(json, owner);
    Object.assign(this, { low: json.low, high: json.high, size: json.cells });
    const good = [this.low, this.high].every(Number.isFinite) && this.high - this.low > 1e-280;
    if (!good || !Number.isFinite(this.high - this.low)) this.refuse(owner, "numbers with low < high", [this.low, this.high]);
    if (!Number.isInteger(this.size) || this.size < 2 || this.size > 65536) {
      this.refuse(owner, "a grid of 2 to 65536 cells", this.size);
    }
  }

  code(meant) {
    if (typeof meant !== "number") return undefined;
    return between(meant, this.low, this.high) ? this.nearest(meant) : OUTSIDE;
  }

  /** The cell of a number; beyond the bounds the first or the last. Next to an edge it is rounded to 15 digits first. */
  nearest(x) {
    const { low, high, size } = this, times = size / (high - low);
    const close = CLOSE * (Math.max(Math.abs(low), Math.abs(high)) * times + size);
    let cell = Math.min(Math.max((x - low) * times, 0), size);
    const near = Math.abs(cell - rint(cell)) <= close && cell > close && cell < size - close;
    if (near) cell = (rounded(x) - low) * times;
    return Math.floor(Math.min(cell, size - 1));
  }

  describe() {
    return `a number from ${this.low} to ${this.high}`;
  }
}

class Decimals extends NumberDomain {
  constructor(json, owner) {
    super(json, owner);
    this.places = json.places;
    if (!Number.isInteger(this.places) || this.places < 0 || this.places > 18) {
      this.refuse(owner, "a number of decimals from 0 to 18", this.places);
    }
    if (!["refuse", "nearest"].includes(json.rounding)) this.refuse(owner, "a known rule of rounding", json.rounding);
    Object.assign(this, { rounds: json.rounding === "nearest", lowText: json.low, highText: json.high });
    [this.first, this.last] = [json.low, json.high].map(text => stepsOf(text, this.places));
    if (!(this.first < this.last)) this.refuse(owner, "decimals with low < high", [json.low, json.high]);
    this.size = this.last - this.first + 1;
    // Longer numbers are for exact sums, which nobody randomises.
    if (Math.max(-this.first, this.last) >= MAX_15_DIGITS || this.size > MAX_SIZE) {
      this.refuse(owner, "at most 2**31 numbers of at most 15 digits", [json.low, json.high]);
    }
    [this.low, this.high] = [Number(json.low), Number(json.high)];
    this.ten = Number(`1e${this.places}`);
  }

  code(meant) {
    if (typeof meant !== "number") return undefined;
    if (this.rounds) return between(meant, this.low, this.high) ? this.nearest(meant) : OUTSIDE;
    for (const x of [meant, rounded(meant)]) { // perhaps off by one unit in the last place
      const steps = rint(x * this.ten);
      if (steps / this.ten === x && Math.abs(steps) < MAX_15_DIGITS) {
        return steps >= this.first && steps <= this.last ? steps - this.first : OUTSIDE;
      }
    }
    return OUTSIDE;
  }

  /** The code of the nearest step; next to the middle of two, by fifteen digits, and in the middle the even one. */
  nearest(meant) {
    const x = Math.min(Math.max(meant, this.low), this.high), y = x * this.ten;
    let steps = rint(y);
    if (Math.abs(y - steps) >= 0.5 - CLOSE * Math.abs(y)) {
      const twice = 2 * Math.floor(y) + 1, middle = rounded(twice / (2 * this.ten)), at = rounded(x);
      steps = at === middle ? rint(twice / 2) : Math.floor(y) + (at > middle ? 1 : 0);
    }
    return Math.min(Math.max(steps, this.first), this.last) - this.first;
  }

  describe() {
    const range = `a number from ${this.lowText} to ${this.highText}`;
    return this.rounds ? range : `${range} with at most ${this.places} decimals`;
  }
}

/** A day, week, month or year between two ends. */
class Dates extends Domain {
  another = "another date";

  constructor(json, owner) {
    super(json, owner);
    const { first, last, unit } = json;
    if (!UNITS.includes(unit)) this.refuse(owner, `dates of one of ${UNITS.join(", ")}`, unit);
    Object.assign(this, { first, last, unit });
    const [low, high] = [first, last].map(end => dateMeaning(unit, end));
    // Python writes ends as labels, so that equal domains are equal texts.
    const good = [[low, first], [high, last]].every(([end, text]) => Number.isInteger(end) && labelOf(unit, end) === text);
    if (!good || high <= low) this.refuse(owner, "dates with first < last", [first, last]);
    this.low = low;
    this.size = high - low + 1;
  }

  meant(answer) {
    return dateMeaning(this.unit, answer);
  }

  code(meant) {
    if (typeof meant !== "number") return undefined;
    return meant >= this.low && meant - this.low < this.size ? meant - this.low : OUTSIDE;
  }

  nearest(meant) {
    return Math.min(Math.max(meant - this.low, 0), this.size - 1);
  }

  describe() {
    return `a ${this.unit === "day" ? "date" : this.unit} from ${this.first} to ${this.last}`;
  }
}

/** A decimal constant of a plan as a whole number of steps of 10**-places; NaN: it is not one. */
function stepsOf(text, places) {
  const parts = typeof text === "string" ? /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$/.exec(text) : null;
  if (parts === null) return NaN;
  const [, sign, whole, fraction = "", exponent = "0"] = parts;
  const shift = places + Number(exponent) - fraction.length;
  if (shift < 0 || shift > 60) return NaN;
  const steps = Number(BigInt(whole + fraction) * 10n ** BigInt(shift));
  return sign ? -steps + 0 : steps;
}
