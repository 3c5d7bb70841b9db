// What an answer means: a function of the answer alone, the same as src/murmure/core/cells/meaning.py.
//   null       nothing, an empty text, or the text "nan": missing
//   a number   a number, true and false (1 and 0), or a text that is one of these, rounded to 15 digits
//   a text     any other text, character for character
//   UNKNOWN    anything else

export const UNKNOWN = Symbol("unknown");
export const MAX_15_DIGITS = 1e15;
export const CLOSE = 1e-14; // a number moves by less than this part of itself when it is rounded to 15 digits

const NUMBER = /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)$/;
const NOTHING = /^(?:[+-]?[nN][aA][nN](?:\([0-9A-Za-z_]*\))?)?$/;
const BLANKS = /^[ \t\n\r\f\v]+|[ \t\n\r\f\v]+$/g;

export function meaning(cell) {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === "boolean") return Number(cell);
  if (typeof cell === "number") return Number.isNaN(cell) ? null : rounded(cell);
  return typeof cell === "string" ? meaningOfText(cell) : UNKNOWN;
}

function meaningOfText(text) {
  const word = stripped(text);
  if (NUMBER.test(word)) return rounded(numberOf(word));
  if (NOTHING.test(word)) return null;
  return /^[tT][rR][uU][eE]$/.test(word) ? 1 : /^[fF][aA][lL][sS][eE]$/.test(word) ? 0 : text;
}

/** Without the blanks around it; not trim(), which takes other spaces too. */
export function stripped(text) {
  return text.replace(BLANKS, "");
}

function numberOf(word) {
  const infinite = /^([+-]?)[iI]/.exec(word);
  return infinite ? (infinite[1] === "-" ? -Infinity : Infinity) : Number(word);
}

/** To 15 significant digits; in the middle of two the even one, as Python has it and toPrecision has not. */
export function rounded(x) {
  if (!Number.isFinite(x)) return x;
  const up = x.toPrecision(15), exact = x.toPrecision(100); // a float in the middle of two has few digits: all are here
  const digits = exact.replace(/e.*$/, "").replace(/[-.]/g, "").replace(/^0+/, "");
  if (!/^[0-9]{15}50*$/.test(digits) || Number(digits[14]) % 2) return Number(up) + 0;
  // x lies in the middle, and the 15 digits below it are even: they are wanted, with the place of their point.
  let left = 15;
  const [mantissa, exponent = ""] = exact.split(/(?=e)/);
  const started = mantissa.search(/[1-9]/);
  const down = [...mantissa].map((c, i) => (!/[0-9]/.test(c) || i < started ? c : left-- > 0 ? c : "0")).join("");
  return Number(down + exponent) + 0;
}

/** The nearest whole number; in the middle of two the even one, as in NumPy's rint. */
export function rint(x) {
  const floor = Math.floor(x), off = x - floor;
  return off < 0.5 ? floor : off > 0.5 ? floor + 1 : floor % 2 ? floor + 1 : floor;
}
