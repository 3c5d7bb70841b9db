// The page of a survey: live results, links, invitations, tests for forgeries, and what cannot be undone.

import "./analyst.js";
import { byId, element, show } from "./elements.js";
import { LivePart } from "./live.js";
import { download, page, send, speech, tell } from "./requests.js";

const MAX_SHOWN = 20, api = `/api/surveys/${page.id}`;

if (page.live) new LivePart(() => page.live);
byId("print").addEventListener("click", () => print());

// -- what cannot be undone is asked twice

for (const button of document.querySelectorAll("[data-ask]")) {
  button.addEventListener("click", () => byId(`ask-${button.dataset.ask}`).showModal());
}
for (const button of document.querySelectorAll("[data-confirm]")) {
  button.addEventListener("click", async () => {
    const problem = button.closest("dialog").querySelector(".fault");
    button.disabled = true;
    try {
      await send("POST", `${api}/${button.dataset.confirm}`, {});
      location.reload();
    } catch (refusal) {
      tell(problem, refusal.message);
      button.disabled = false;
    }
  });
}

// -- links

/** Whether it worked: without TLS, and where people forbid it, a page may not copy. */
async function copy(text, place, otherwise) {
  try {
    await navigator.clipboard.writeText(text);
    place.textContent = speech.say("copied");
    return true;
  } catch {
    place.textContent = speech.say(otherwise);
    return false;
  }
}

byId("copy-link")?.addEventListener("click", async event => {
  const link = event.currentTarget.dataset.link;
  if (!await copy(link, byId("copied"), "selected")) getSelection().selectAllChildren(document.querySelector(".address a"));
});

let links = [], kept = 0;
byId("invite")?.addEventListener("submit", async event => {
  event.preventDefault();
  const button = event.target.querySelector("button"), typed = byId("count").value.replace(/[\s\u00a0\u202f]/g, "");
  tell(byId("invite-problem"));
  button.disabled = true;
  try {
    const made = await send("POST", `${api}/invitations`, { count: /^\d+$/.test(typed) ? Number(typed) : typed });
    links = [...links, ...made.links];
    const rest = links.length - MAX_SHOWN;
    const shown = links.slice(0, MAX_SHOWN).join("\n");
    byId("made-links").textContent = rest > 0 ? `${shown}\n${speech.say("and.more", { n: speech.number(rest) })}` : shown;
    byId("made-count").textContent = speech.say("made", { n: speech.number(links.length) });
    byId("invited").textContent = speech.say("invited", { n: speech.number(page.invitations + links.length) });
    show(byId("made"));
  } catch (refusal) {
    tell(byId("invite-problem"), refusal.message);
  }
  button.disabled = false;
});
byId("download-links")?.addEventListener("click", () => {
  download(`${speech.say("file")}-${page.id}.csv`, "text/csv;charset=utf-8", `link\n${links.join("\n")}\n`);
  kept = links.length;
});
byId("copy-links")?.addEventListener("click", async () => {
  if (await copy(links.join("\n"), byId("links-copied"), "not.copied")) kept = links.length;
});
// Links that were made and neither downloaded nor copied would be lost with the page.
addEventListener("beforeunload", event => links.length > kept && event.preventDefault());

// -- tests for forgeries

byId("test").addEventListener("click", async event => {
  const button = event.currentTarget, place = byId("tested");
  button.disabled = true;
  place.replaceChildren(element("p", { class: "note" }, speech.say("testing")));
  try {
    place.replaceChildren(...forgeries(await send("GET", `${api}/forgeries?wave=${button.dataset.wave}`)));
  } catch (refusal) {
    place.replaceChildren(element("p", { class: "fault" }, refusal.message));
  }
  button.disabled = false;
});

function forgeries({ sentence, noticed, level_each: level, tests, words }) {
  const rows = words.map(({ column, test, saw }, i) => element("li", {},
    element("b", {}, [column, test].filter(Boolean).join(" · ")),
    ...(tests[i].p_value <= level ? [element("span", { class: "pill alarm" }, speech.say("alarm"))] : []),
    element("span", { class: "note" }, saw),
    element("span", { class: "note" }, `${speech.say("p.value")} ${speech.number(tests[i].p_value, { maximumSignificantDigits: 2 })}`)));
  return [element("p", noticed ? { class: "warning" } : {}, sentence), element("ul", { class: "tests" }, ...rows)];
}
