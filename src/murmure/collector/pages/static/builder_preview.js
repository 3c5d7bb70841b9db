// The questions as respondents will see them, in either language.

import { byId, element } from "./elements.js";
import { speech } from "./requests.js";
import { TextPair } from "./text_pairs.js";

const MAX_ROWS = 15;

let language = speech.language, latest = null, waiting = false;

for (const tab of document.querySelectorAll("[data-preview]")) {
  tab.addEventListener("click", () => {
    language = tab.dataset.preview;
    for (const other of document.querySelectorAll("[data-preview]")) other.setAttribute("aria-pressed", other === tab);
    if (latest) draw(latest());
  });
}

function rows(question, at) {
  const labels = question.kind === "yes-no" ? [speech.say("no"), speech.say("yes")]
    : question.options.map(option => TextPair.in(option.label, language) || speech.say("preview.untexted"));
  if (labels.length > MAX_ROWS) {
    const options = [speech.say("choose"), ...labels].map(label => element("option", {}, label));
    return element("select", { "aria-label": TextPair.in(question.text, language) || speech.say("preview.untexted") }, ...options);
  }
  const one = label => element("label", {}, element("input", { type: "radio", name: `preview-${at}` }), element("span", {}, label));
  return element("div", { class: `rows ${question.kind}` }, ...labels.map(one));
}

function number(question) {
  const text = TextPair.in(question.text, language) || speech.say("preview.untexted");
  const field = element("input", { type: "text", inputmode: "decimal", "aria-label": text });
  const [low, high] = [question.low, question.high].map(value => (value === null ? "…" : speech.number(value)));
  const steps = question.step === 1 ? "" : ` · ${speech.say("steps", { step: speech.number(question.step) })}`;
  return element("div", {},
    element("div", { class: "number-row" }, field, element("span", {}, TextPair.in(question.unit, language))),
    element("p", { class: "note" }, speech.say("range", { low, high }), steps));
}

/** Draw the survey anew: survey() is asked once, before the next frame. */
export function preview(survey) {
  latest = survey;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw(latest());
  });
}

function draw(survey) {
  const many = survey.questions.length > 1;
  const questions = survey.questions.map((question, i) => {
    const legend = element("legend", {}, TextPair.in(question.text, language) || speech.say("preview.untexted"));
    if (many) legend.prepend(element("span", { class: "number" }, `${i + 1} `));
    return element("fieldset", {}, legend, question.kind === "number" ? number(question) : rows(question, i));
  });
  const intro = TextPair.in(survey.intro, language);
  byId("preview").replaceChildren(
    element("p", { class: "preview-title" }, TextPair.in(survey.title, language) || speech.say("untitled")),
    ...(intro ? [element("p", { class: "intro" }, intro)] : []),
    ...questions);
  byId("preview").lang = language;
}
