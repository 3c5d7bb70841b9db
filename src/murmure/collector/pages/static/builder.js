// Writing a survey: the form is the survey; it is saved as a draft, and opened after a last look.

import "./analyst.js";
import { AdvicePanel } from "./advice_panel.js";
import { preview } from "./builder_preview.js";
import { byId, element } from "./elements.js";
import { parse, written } from "./numbers.js";
import { QuestionCards } from "./question_cards.js";
import { page, send, speech, tell } from "./requests.js";
import { TextPair } from "./text_pairs.js";

const start = page.document;
let id = page.id, dirty = false, advice = null;
const field = name => document.querySelector(`.builder-main > .step [data-field=${name}]`);

// -- the form

const title = new TextPair(field("title"), start.title, () => changed(false));
const intro = new TextPair(field("intro"), start.intro, () => changed(false));
const cards = new QuestionCards(start.questions, () => changed());
byId("people").value = written(start.people, speech.language, 9);
byId("waves").value = start.waves;
byId("epsilon_total").value = written(start.epsilon_total, speech.language);
if (start.waves > 1) byId("waves-part").open = true;
for (const radio of document.querySelectorAll("[name=link]")) {
  radio.checked = radio.value === start.link;
  radio.addEventListener("change", () => changed(false));
}
for (const name of ["people", "waves", "epsilon_total"]) byId(name).addEventListener("input", () => changed());

const numberOf = name => (Number.isNaN(parse(byId(name).value)) ? null : parse(byId(name).value));

function survey() {
  const waves = numberOf("waves") ?? 1;
  return {
    murmure_survey: start.murmure_survey,
    title: title.value,
    intro: intro.value,
    questions: cards.questions,
    people: numberOf("people"),
    epsilon: advice?.epsilon ?? start.epsilon,
    waves,
    epsilon_total: waves > 1 ? numberOf("epsilon_total") : null,
    mechanism: start.mechanism,
    link: document.querySelector("[name=link]:checked")?.value ?? "open",
  };
}

function changed(figures = true) {
  dirty = true;
  byId("saved").textContent = speech.say("unsaved");
  preview(survey);
  if (figures) advice?.soon();
}

preview(survey);
advice = new AdvicePanel(survey, start.epsilon, () => changed());
addEventListener("beforeunload", event => dirty && event.preventDefault());

// -- what is wrong, beside its field

/** "questions[1].options[0].label" as the box whose fault it is, and the field to go to. */
function placeOf(where = "") {
  const inside = /^questions\[(\d+)\](?:\.(\w+))?(?:\[(\d+)\])?/.exec(where);
  if (!inside) return where && !where.startsWith("questions") ? field(where.split(/[.[]/)[0]) : null;
  const card = cards.cards[Number(inside[1])];
  if (!card) return null;
  if (inside[3] !== undefined) return card.options[Number(inside[3])]?.box;
  return inside[2] ? card.box.querySelector(`[data-field=${inside[2]}]`) : card.box.querySelector("[data-field=text]");
}

function clear() {
  tell(byId("problem"));
  for (const place of document.querySelectorAll(".builder-main .fault")) tell(place);
  for (const input of document.querySelectorAll("[aria-invalid=true]")) input.removeAttribute("aria-invalid");
}

function complain(refusal) {
  const place = placeOf(refusal.where), fault = place?.querySelector(":scope > .fault");
  if (!fault) {
    tell(byId("problem"), refusal.message);
    return;
  }
  tell(fault, refusal.beside ?? refusal.message);
  place.closest("details")?.setAttribute("open", "");
  const input = place.querySelector("input, textarea, select");
  fault.id ||= `fault-${Math.random().toString(36).slice(2)}`;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", fault.id);
  input.focus();
}

// -- saving

async function save() {
  clear();
  if (cards.fault) {
    complain(cards.fault);
    return false;
  }
  byId("saved").textContent = speech.say("saving");
  try {
    const saved = id ? await send("PUT", `/api/surveys/${id}`, survey()) : await send("POST", "/api/surveys", survey());
    if (!id) {
      id = saved.id;
      history.replaceState(null, "", `/surveys/${id}/edit${location.search}`);
    }
    dirty = false;
    byId("saved").textContent = speech.say("saved");
    return true;
  } catch (refusal) {
    byId("saved").textContent = speech.say("unsaved");
    complain(refusal);
    return false;
  }
}

byId("builder").addEventListener("submit", event => {
  event.preventDefault();
  save();
});

byId("open").addEventListener("click", async () => {
  if (advice.problem) await advice.now();
  if (!await save()) return;
  const asked = survey(), n = asked.questions.length;
  const figures = advice.latest ? advice.words(advice.latest).slice(0, 2) : [];
  byId("last-look").replaceChildren(
    element("p", { class: "preview-title" }, TextPair.in(asked.title, speech.language)),
    element("p", { class: "note" }, [
      n === 1 ? speech.say("last.question") : speech.say("last.questions", { n }),
      speech.say("last.people", { n: speech.number(asked.people) }),
      speech.say(asked.link === "open" ? "open.link" : "copy.links"),
      `epsilon ${speech.number(asked.epsilon)}`,
    ].join(" · ")),
    ...figures);
  byId("ask-open").showModal();
});

function confirmed(button, work) {
  byId(button).addEventListener("click", async () => {
    const problem = byId(button).closest("dialog").querySelector(".fault");
    byId(button).disabled = true;
    try {
      await work();
    } catch (refusal) {
      tell(problem, refusal.message);
      byId(button).disabled = false;
    }
  });
}

confirmed("open-now", async () => {
  await send("POST", `/api/surveys/${id}/open`, {});
  location.assign(`/surveys/${id}`);
});
byId("remove")?.addEventListener("click", () => byId("ask-remove").showModal());
confirmed("remove-now", async () => {
  await send("DELETE", `/api/surveys/${id}`);
  dirty = false;
  location.assign("/");
});
