// The answering page. An answer is read from the page, randomised once, and kept nowhere; the report is kept before any
// request is made, shown, sent until it is acknowledged, and never drawn again.

import { Plan } from "../client/plan.js";
import { Answering } from "./answering.js";
import { linkProblem } from "./delivery.js";
import { DeviceStore } from "./device_store.js";
import { byId, show } from "./elements.js";
import { ReportView, Stop, refusalText, showReceipt, tellProblem } from "./report_view.js";
import { Speech } from "./speech.js";

const PLAN_TIME_LIMIT = 60000;
const PREFIX = /^[0-9a-f]{16,64}$/, TOKEN = /^[0-9a-f]{32}$/;

const fragmentOf = () => new URLSearchParams(location.hash.slice(1));
const setFragment = hash => history.replaceState(null, "", location.pathname + location.search + hash);

/** The link's fragment: the token leaves the address bar, and waits in this tab until it is kept with the report. */
function readLink(store) {
  const fragment = fragmentOf(), kept = store.link ?? {};
  const link = { p: fragment.get("p") ?? kept.p ?? null, t: fragment.get("t") ?? kept.t ?? null };
  if (fragment.has("t")) {
    store.link = link;
    if (store.session.keeps) setFragment(link.p === null ? "" : `#p=${encodeURIComponent(link.p)}`);
  }
  const { hash } = location;
  for (const other of document.querySelectorAll(".languages a")) other.hash = hash;
  addEventListener("hashchange", () => {
    const next = fragmentOf();
    if (next.has("p") || next.has("t")) location.reload(); // another link
    else setFragment(hash); // a place on this page, as the skip link names one: what the link promises stays in the address
  });
  return link;
}

async function planText(id) {
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), PLAN_TIME_LIMIT);
  try {
    const response = await fetch(`/api/surveys/${id}/plan`, { signal: stop.signal });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

async function loadPlan(survey, link, speech) {
  const text = await planText(survey.id);
  if (text === null) throw new Stop(speech, "plan.missing");
  let plan;
  try {
    plan = new Plan(text);
  } catch (error) {
    throw new Stop(speech, "plan.refused", { reason: error.message.split("\n")[0] });
  }
  if (link.p !== null && !(PREFIX.test(link.p) && plan.digest.startsWith(link.p))) throw new Stop(speech, "link.plan");
  if (plan.digest !== survey.plan) throw new Stop(speech, "page.plan");
  return plan;
}

/** Another tab may draw, send or delete: then its record is the one. A page that comes back from history begins again. */
function stayCurrent(view) {
  const { store } = view;
  addEventListener("storage", event => {
    if (event.key?.endsWith(store.place) && (store.pinned?.body ?? null) !== view.body) location.reload();
  });
  addEventListener("pagehide", () => view.forget());
  addEventListener("pageshow", event => event.persisted && store.keeps && location.reload());
}

async function start() {
  const { survey, words } = JSON.parse(byId("page-data").textContent);
  const speech = new Speech(words), store = new DeviceStore(survey), link = readLink(store);
  const personal = survey.link === "invitations";
  if (!personal) link.t = null; // the device makes one
  else if (link.t === null && survey.waves > 1) link.t = store.earlierToken();
  store.choose(link.t);
  const record = store.pinned;
  show(byId("unkept"), !store.keeps && survey.state === "open");
  try {
    if (!record?.received && !record?.body) {
      if (record?.refused) throw Object.assign(new Error("refused"), { sentence: refusalText(record.refused, speech) });
      if (survey.state !== "open") return;
      if (personal && !TOKEN.test(link.t ?? "")) throw new Stop(speech, "link.token");
    }
    const plan = await loadPlan(survey, link, speech);
    const problem = personal && !record && await linkProblem(survey.id, link.t);
    if (problem) throw new Stop(speech, problem);
    const memoised = survey.waves > 1 ? (await import("../client/memoised.js")).MemoisedClient : null;
    const view = new ReportView(plan, survey, store, speech);
    if (record?.received) view.receipt();
    else if (record?.body) view.review(record);
    else if (!view.conclusions.honest) throw new Stop(speech, "plan.dishonest");
    else new Answering(view, link, memoised).ask();
    show(byId("unpinned"), link.p === null && survey.state === "open");
    stayCurrent(view);
  } catch (error) {
    show(byId("answering"), false);
    if (!record?.received) return tellProblem(error, speech);
    show(byId("receipt")); // it is shown whatever became of the survey
    showReceipt(survey, record, speech);
  }
}

start().finally(() => {
  document.documentElement.setAttribute("data-ready", "");
  performance.mark("ready");
});
