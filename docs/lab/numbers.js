// Numbers as people type and read them: "0,5", "1/3" and "ln 3" are numbers here; French has a decimal comma.

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number that a text means, or NaN. */
export function parse(text) {
  const typed = String(text).trim().replace(/[\s\u00a0\u202f]+/g, " ").replace(",", ".").replace("−", "-");
  const logarithm = /^ln ?\(?([^()]+)\)?$/i.exec(typed);
  if (logarithm) return Math.log(parse(logarithm[1]));
  const [above, below, ...more] = typed.split("/");
  if (below !== undefined) return more.length ? NaN : parse(above) / parse(below);
  const digits = above.replace(/(?<=\d) (?=\d{3}\b)/g, "");  // 100 000
  return PLAIN.test(digits) ? Number(digits) : NaN;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const superscript = whole => String(whole).replace(/\d/g, digit => SUPERSCRIPTS[digit]).replace("-", "⁻");

/** Of a power of ten. */
export const powerOfTen = value => `10${superscript(Math.round(Math.log10(value)))}`;

/** A number with `digits` significant digits; very small and very large ones as a × 10ⁿ, with `powers` all of them.
 *
 *  `atLeast`: zeros at the end are kept up to so many digits, for columns.
 */
export function format(value, lang, digits = 4, atLeast = 1, powers = false) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (value !== 0 && (powers || size < 1e-3 || size >= 1e9)) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const shown = format(Number(mantissa), lang, digits, atLeast);
    const tens = `10${superscript(Number(power))}`;
    return Number(mantissa) === 1 && atLeast === 1 ? tens : `${shown} × ${tens}`.replaceAll(" ", "\u00a0");
  }
  const options = size >= 10 ** (digits - 1)
    ? { maximumFractionDigits: 0 }
    : { maximumSignificantDigits: digits, minimumSignificantDigits: atLeast };
  return new Intl.NumberFormat(lang, options).format(value).replace("-", "−");
}

/** A share as a percentage, or a difference of shares in points. */
export const percent = (value, lang, digits = 3) =>
  `${format(100 * value, lang, digits)}${lang === "fr" ? "\u00a0" : ""}%`;

/** As the address and the fields carry it: short, with a point, and the same number again when it is read. */
export const plain = value => String(Number(Number(value).toPrecision(12)));
