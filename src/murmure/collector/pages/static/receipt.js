// The receipt: the report exactly as it was sent, and what it belongs to. Never the answer, the words or the token.

import { byId } from "./elements.js";

const receiptText = ({ id, wave }, { plan, report }) =>
  JSON.stringify({ murmure_receipt: 1, survey: id, wave, plan, report }, null, 1);

export function showReceipt(survey, record, speech) {
  const text = receiptText(survey, record);
  byId("received").textContent = speech.say(`received.${record.received === "before" ? "before" : "now"}`);
  byId("receipt-text").textContent = text;
  byId("copy").addEventListener("click", async () => {
    if (await copied(text)) byId("copied").textContent = speech.say("copied");
  });
  byId("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `murmure-${speech.say("download.name")}-${survey.id}-${survey.wave}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

/** navigator.clipboard is only there with TLS, which a class-room may not have. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(byId("receipt-text"));
    return document.execCommand("copy");
  }
}
