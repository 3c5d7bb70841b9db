// The page: reads the address, builds the controls of a panel, and draws it again whenever something moves.

import { LANGUAGES, PANELS, read, write } from "./address.js";
import { controls } from "./controls.js";
import { element } from "./elements.js";
import { grrPanel } from "./panel_grr.js";
import { lawsPanel } from "./panel_laws.js";
import { recordsPanel } from "./panel_records.js";
import { treePanel } from "./panel_tree.js";
import { varstarPanel } from "./panel_varstar.js";
import { speaker } from "./words.js";

const DRAWN = { tree: treePanel, grr: grrPanel, laws: lawsPanel, varstar: varstarPanel, records: recordsPanel };
const WIDEST = 704;  // pixels: wider, a drawing gets no clearer
const PATIENCE = 250;  // milliseconds without a move

let state, say, page, built, later;

function start() {
  document.getElementById("waiting").remove();
  arrive();
  addEventListener("hashchange", () => write(state.panel, state.values, state.lang) === location.hash || arrive());
  let width = page.output.clientWidth;
  new ResizeObserver(() => {
    if (page.output.clientWidth !== width) {
      width = page.output.clientWidth;
      draw();
    }
  }).observe(document.body);
}

/** Somebody followed a link, or typed an address. */
function arrive() {
  clearTimeout(later);
  const focus = document.activeElement?.id;
  state = read(location.hash, location.search);
  say = speaker(state.lang);
  const replaced = settle();
  build();
  tell([...state.notices, ...replaced]);
  publish();
  document.getElementById(focus)?.focus();  // the links at the top are made anew
}

/** Values that depend on each other; returns what had to be replaced. */
function settle() {
  const notices = [];
  for (const [key, { atMost }] of Object.entries(PANELS[state.panel])) {
    if (atMost) state.values[key] = Math.min(state.values[key], state.values[atMost]);
  }
  const { allowed } = DRAWN[state.panel];
  for (const [key, { choices }] of Object.entries(PANELS[state.panel])) {
    if (!choices || !allowed) continue;
    const possible = allowed(key, state.values) ?? choices;
    if (possible.includes(state.values[key])) continue;
    notices.push({ why: "choice", key, given: state.values[key], used: possible[0] });
    [state.values[key]] = possible;
  }
  return notices;
}

const allowedNow = key => DRAWN[state.panel].allowed?.(key, state.values) ?? PANELS[state.panel][key].choices;

function build() {
  document.documentElement.lang = state.lang;
  document.title = `${say(`${state.panel}.title`)} · ${say("title")} · Murmure`;
  const link = (id, address, text, current, extra = {}) =>
    element("a", { id, href: address, ...(current ? { "aria-current": "page" } : {}), ...extra }, text);
  const panels = Object.keys(PANELS).map(name =>
    link(`to-${name}`, write(name, read(`#${name}`).values, state.lang), say(`${name}.short`), name === state.panel));
  const languages = LANGUAGES.map(lang =>
    link(`to-${lang}`, "#", speaker(lang)("language"), lang === state.lang, { lang, hreflang: lang }));
  page = {
    notice: element("p", { class: "notice", role: "status" }),
    output: element("div", { class: "output" }),
    heard: element("p", { class: "aside", role: "status" }),
    panels: element("nav", { class: "panels", "aria-label": say("panels") }, ...panels),
    languages: element("nav", { class: "languages", "aria-label": say("languages") },
      element("a", { href: say("home.address"), class: "home" }, say("home")), ...languages),
  };
  built = controls(PANELS[state.panel], state, say, moved, allowedNow);
  document.body.replaceChildren(
    page.languages,
    element("main", {},
      element("h1", {}, say("title")),
      element("p", { class: "motto" }, say("motto")),
      page.panels,
      element("h2", {}, say(`${state.panel}.title`)),
      element("p", {}, say(`${state.panel}.intro`)),
      element("form", { class: "controls", "aria-label": say("controls") }, ...built.boxes),
      page.notice, page.output, page.heard,
      element("footer", {}, say("footer"))));
  document.querySelector("form").addEventListener("submit", event => event.preventDefault());
  draw();
}

function moved(key, value, notices) {
  state.values[key] = value;
  settle();
  built.refresh();
  tell(notices);
  draw();
  clearTimeout(later);
  // Browsers refuse an address that changes a hundred times in a drag, and a screen reader would never end.
  later = setTimeout(() => {
    publish();
    page.heard.textContent = page.summary;
  }, PATIENCE);
}

function draw() {
  const width = Math.min(WIDEST, Math.max(240, page.output.clientWidth));
  const { summary, content } = DRAWN[state.panel].draw(state.values, say, width);
  page.output.replaceChildren(element("p", { class: "summary" }, summary), ...content);
  // What is wider than the window scrolls, and can then be reached with the keyboard.
  for (const box of page.output.querySelectorAll(".scroll, .formula")) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
  }
  page.summary = summary;
  links();
}

const publish = () => history.replaceState(null, "", write(state.panel, state.values, state.lang));

/** The links to other languages, and to the panel itself, carry what is shown now. */
function links() {
  document.getElementById(`to-${state.panel}`).href = write(state.panel, state.values, state.lang);
  for (const lang of LANGUAGES) document.getElementById(`to-${lang}`).href = write(state.panel, state.values, lang);
}

function tell(notices) {
  page.notice.textContent = notices.map(({ why, key, given, used, min, max }) => say(`notice.${why}`, {
    name: key === "lang" ? "lang" : key ? say(`${state.panel}.${key}`) : "",
    given: given.length > 40 ? `${given.slice(0, 40)}…` : given,
    used: typeof used === "number" ? say.number(used) : used,
    min: min === undefined ? "" : say.number(min),
    max: max === undefined ? "" : say.number(max),
  })).join(" ");
  page.notice.hidden = !notices.length;
}

start();
