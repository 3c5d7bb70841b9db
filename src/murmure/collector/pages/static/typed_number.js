// A number as people type it: "7,5" and "7.5", "1 000", "−3". A field of type=number would drop the mark that the
// browser's own language does not have, and "7,5" would be 75, with nothing said.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i;
const GROUPS = /^[+-]?\d{1,3}([\s'’]\d{3})+([.,]\d*)?$/, ENGLISH_GROUPS = /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/;

/** What a text can mean. A comma is a decimal mark; in English it may also be one of thousands. */
export function readings(text, language) {
  const typed = text.trim().replace("−", "-"), plain = GROUPS.test(typed) ? typed.replace(/[\s'’]/g, "") : typed;
  const texts = [plain.replace(",", ".")];
  if (language === "en" && ENGLISH_GROUPS.test(plain)) texts.push(plain.replaceAll(",", ""));
  return texts.filter(one => NUMBER.test(one)).map(one => Number(one) + 0); // no -0
}
