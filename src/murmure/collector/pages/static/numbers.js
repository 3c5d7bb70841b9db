// Numbers as people type them: "0,5", "1 000" and "2.5" are numbers; whole ones only where they must be.

/** The number that a text means, or NaN. */
export function parse(text) {
  const typed = String(text).trim().replace(/(?<=\d)[\s\u00a0\u202f'’](?=\d{3}(\D|$))/g, "").replace(",", ".").replace("−", "-");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed) ? Number(typed) : NaN;
}

/** A number for a field, so that it can be changed there: no thousands, the decimal mark of the language. */
export function written(value, language, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "";
  const text = String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(Math.abs(value) + 1))))));
  return language === "fr" ? text.replace(".", ",") : text;
}
