// A plan as text, token by token. JSON.parse reads 1.0 as 1, but a digest is made of the text: so the tokens of the
// text are kept as they are.

import { hexOf, sha256 } from "./sha256.js";

const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|\s+/g;

/** The digest of a plan: of its text without the blanks between tokens, as Python's Plan.digest has it. */
export function digestOf(text) {
  const compact = text.replace(TOKEN, token => (/^\s/.test(token) ? "" : token));
  return hexOf(sha256(new TextEncoder().encode(compact)));
}

/** The same values with numbers and texts as {number: "1.0"} and {text: "..."}: as they were written. */
export function parseVerbatim(text) {
  const tagged = text.replace(TOKEN, token => {
    if (token[0] === '"') return `"$${token.slice(1)}`;
    return /^\s/.test(token) ? " " : `"#${token}"`;
  });
  const untag = value => {
    if (typeof value === "string") return value[0] === "$" ? { text: value.slice(1) } : { number: value.slice(1) };
    if (Array.isArray(value)) return value.map(untag);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.slice(1), untag(item)]));
  };
  return untag(JSON.parse(tagged));
}

/** What parseVerbatim read, as Python's json.dumps writes it: blanks after colons and commas, letters in ASCII. */
export function pythonText(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map(pythonText).join(", ")}]`;
  if (typeof value.number === "string") return value.number;
  if (typeof value.text === "string") return asciiText(value.text);
  return `{${value.entries.map(([key, item]) => `${asciiText(key)}: ${pythonText(item)}`).join(", ")}}`;
}

function asciiText(text) {
  return JSON.stringify(text).replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
