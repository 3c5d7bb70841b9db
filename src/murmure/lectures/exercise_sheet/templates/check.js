"use strict";
// Checks answers of the exercise sheet: a formula is right if it has the right value at every point of data-key.
// Its grammar is small and nothing is ever run as code:
//   sum = product {(+|-) product}    product = signed {(*|/) signed | power}    signed = {+|-} power
//   power = atom [^ signed]          atom = number | letter | e | function atom | ( sum )
// Two parts side by side are multiplied, if the second one is not a number: 2o, 3N/4, N(1 - p).

// Maps and not objects, which know words such as "constructor".
const FUNCTIONS = new Map([["ln", Math.log], ["log", Math.log], ["sqrt", Math.sqrt], ["racine", Math.sqrt], ["exp", Math.exp]]);
const SAME = new Map([
  ["×", "*"], ["·", "*"], ["⋅", "*"], ["÷", "/"], [":", "/"], ["−", "-"], ["–", "-"], ["[", "("], ["]", ")"], ["√", "sqrt"],
  ["**", "^"],
]);

function tokens(text) {
  const found = text.match(/\d+(?:[.,]\d*)?|[.,]\d+|\*\*|[A-Za-z]+|\S/g) || [];
  return found.map(token => SAME.get(token) || token);
}

function evaluate(text, values) {
  const list = tokens(text);
  let at = 0;

  // Letters may be typed small or capital, and side by side: oN is o times N.
  const letter = name => Object.keys(values).find(own => own === name)
    || Object.keys(values).find(own => own.toLowerCase() === name.toLowerCase());

  function fail() {
    throw new SyntaxError("not a formula in these letters");
  }
  function expect(token) {
    if (list[at] !== token) fail();
    at += 1;
  }
  function sum() {
    let value = product();
    while (list[at] === "+" || list[at] === "-") {
      value = list[at++] === "+" ? value + product() : value - product();
    }
    return value;
  }
  function product() {
    let value = signed();
    for (;;) {
      if (list[at] === "*") { at += 1; value *= signed(); }
      else if (list[at] === "/") { at += 1; value /= signed(); }
      else if (list[at] !== undefined && /^[A-Za-z(]/.test(list[at])) value *= power();
      else return value;
    }
  }
  function signed() {
    if (list[at] === "-") { at += 1; return -signed(); }
    if (list[at] === "+") { at += 1; return signed(); }
    return power();
  }
  function power() {
    const base = atom();
    if (list[at] !== "^") return base;
    at += 1;
    return base ** signed();
  }
  function atom() {
    const token = list[at];
    if (token === undefined) fail();
    at += 1;
    if (/^[\d.,]/.test(token)) return number(token);
    if (token === "(") {
      const value = sum();
      expect(")");
      return value;
    }
    const name = token.toLowerCase();
    if (FUNCTIONS.has(name)) return FUNCTIONS.get(name)(atom());
    if (letter(token) !== undefined) return values[letter(token)];
    if (name === "e") return Math.E;
    if (/^[A-Za-z]{2,}$/.test(token) && [...token].every(one => letter(one) !== undefined)) {
      list.splice(at, 0, ...[...token].slice(1));  // the other letters are next
      return values[letter(token[0])];
    }
    return fail();
  }
  function number(token) {
    const value = Number(token.replace(",", "."));
    return Number.isFinite(value) ? value : fail();
  }

  const value = sum();
  if (at !== list.length) fail();
  return value;
}

// "right", "wrong", "unreadable", or "" for nothing typed.
function verdict(text, key) {
  if (!text.trim()) return "";
  try {
    const near = key.points.every(({at, answer}) =>
      Math.abs(evaluate(text, at) - answer) <= key.tolerance * Math.max(1, Math.abs(answer)));
    return near ? "right" : "wrong";
  } catch (error) {
    if (error instanceof SyntaxError) return "unreadable";
    throw error;
  }
}

function check(field) {
  const input = field.querySelector("input"), output = field.querySelector("output");
  const found = verdict(input.value, JSON.parse(input.dataset.key));
  const words = field.closest(".check").dataset;
  output.textContent = found === "" ? "" : (found === "right" ? "✓ " : "✗ ") + words[found];
  output.className = found === "right" ? "right" : "wrong";
}

if (typeof document !== "undefined") {
  for (const box of document.querySelectorAll(".check")) {
    box.hidden = false;
    const fields = [...box.querySelectorAll(".field")];
    box.querySelector("button").addEventListener("click", () => fields.forEach(check));
    for (const field of fields) {
      const input = field.querySelector("input");
      input.addEventListener("keydown", event => { if (event.key === "Enter") check(field); });
      input.addEventListener("input", () => { field.querySelector("output").textContent = ""; });
    }
  }
} else {
  module.exports = {evaluate, verdict};
}
