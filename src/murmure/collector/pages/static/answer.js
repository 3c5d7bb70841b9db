// The answering page. An answer is read from the page, randomised once, and kept nowhere; the report is kept before any
// request is made, shown, sent until it is acknowledged, and never drawn again.

import { Plan } from "../client/plan.js";
import { Answering } from "./answering.js";
import { DeviceStore } from "./device_store.js";
import { byId, show } from "./elements.js";
import { ReportView, Stop, showReceipt, tellProblem } from "./report_view.js";
import { Speech } from "./speech.js";

const PREFIX = /^[0-9a-f]{16,64}$/, TOKEN = /^[0-9a-f]{32}$/;

/** The link's fragment: the token leaves the address bar, and waits in this tab until it is kept with the report. */
function readLink(store) {
  const fragment = new URLSearchParams(location.hash.slice(1)), kept = store.link ?? {};
  const link = { p: fragment.get("p") ?? kept.p ?? null, t: fragment.get("t") ?? kept.t ?? null };
  if (fragment.has("t") && store.session.area) {
    store.link = link;
    const rest = link.p === null ? "" : `#p=${encodeURIComponent(link.p)}`;
    history.replaceState(null, "", location.pathname + location.search + rest);
  }
  for (const other of document.querySelectorAll(".languages a")) other.hash = location.hash;
  addEventListener("hashchange", () => location.reload());
  return link;
}

async function loadPlan(survey, link, speech) {
  let text, plan;
  try {
    const response = await fetch(`/api/surveys/${survey.id}/plan`);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    text = await response.text();
  } catch {
    throw new Stop(speech, "plan.missing");
  }
  try {
    plan = new Plan(text);
  } catch (error) {
    throw new Stop(speech, "plan.refused", { reason: error.message.split("\n")[0] });
  }
  if (link.p !== null && !(PREFIX.test(link.p) && plan.digest.startsWith(link.p))) throw new Stop(speech, "link.plan");
  if (plan.digest !== survey.plan) throw new Stop(speech, "page.plan");
  return plan;
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
      if (record?.refused) throw new Stop(speech, speech.keyOf("refused", record.refused.code), record.refused);
      if (survey.state !== "open") return;
      if (personal && !TOKEN.test(link.t ?? "")) throw new Stop(speech, "link.token");
    }
    const plan = await loadPlan(survey, link, speech);
    const memoised = survey.waves > 1 ? (await import("../client/memoised.js")).MemoisedClient : null;
    const view = new ReportView(plan, survey, store, speech);
    if (record?.received) view.receipt();
    else if (record?.body) view.review();
    else new Answering(view, link, memoised).ask();
  } catch (error) {
    show(byId("answering"), false);
    if (!record?.received) return tellProblem(error);
    show(byId("receipt")); // it is shown whatever became of the survey
    showReceipt(survey, record, speech);
  }
}

start().finally(() => {
  document.documentElement.setAttribute("data-ready", "");
  performance.mark("ready");
});
