// Requests of analysts' pages: JSON there and back, with the session's CSRF token. Refusals are errors with a sentence.

import { byId } from "./elements.js";
import { Speech } from "./speech.js";

export const page = JSON.parse(byId("page-data").textContent);
export const speech = new Speech(page.words);

/** Texts as sentences, one after the other: with a capital letter and a full stop. */
function sentences(...texts) {
  const full = text => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
  return texts.filter(Boolean).map(full).join(" ");
}

/** What the collector refused. where: the field of the survey that it is about; beside: what to say next to it. */
export class Refusal extends Error {
  constructor({ error, message, hint, where, wanted, status }) {
    super(sentences(message, hint));
    const beside = wanted ? sentences(speech.say("wanted", { wanted }), hint) : this.message;
    Object.assign(this, { code: error, where, status, beside });
  }
}

async function bodyOf(answer) {
  try {
    return await answer.json();
  } catch {
    return null;
  }
}

/** The JSON of an answer; throws a Refusal with a sentence for people. */
export async function send(method, path, body) {
  const headers = { Accept: "application/json" };
  if (page.csrf) headers["X-CSRF-Token"] = page.csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const address = `${path}${path.includes("?") ? "&" : "?"}lang=${speech.language}`;
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Refusal({ error: "unreachable", message: speech.say("unreachable"), status: 0 });
  }
  const value = await bodyOf(answer);
  if (answer.ok && value) return value;
  if (answer.status === 401 && !path.startsWith("/api/session")) {
    throw new Refusal({ error: "sign-in", message: speech.say("signed.out"), status: 401 });
  }
  throw new Refusal(value?.message ? value : { error: "unexpected", message: speech.say("unexpected", { status: answer.status }), status: answer.status });
}

/** A sentence in the place for it; an empty one hides the place. */
export function tell(place, text = "") {
  place.textContent = text;
  place.hidden = !text;
}

export function download(name, kind, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
