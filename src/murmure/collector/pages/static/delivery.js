// Sending a kept report until it is acknowledged: the same text each time, a bounded number of tries, and every state
// is told, so that "kept here" never looks like "sent".
//
// Only the collector can acknowledge or refuse. A page that a wireless network, a proxy or another server puts in its
// place says nothing about the report, whatever its status: then the report is still kept here, and is sent again.

const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between tries
const MAX_WAIT = 120;
const TIME_LIMIT = 20000; // of one try
const LATER = [408, 425, 429, 500, 502, 503, 504]; // statuses after which the same text may be sent again

/** An answer of the collector: its JSON says "ok", and a refusal says why. null: somebody else's answer, or a part of one. */
async function collectorAnswer(response) {
  try {
    const json = await response.json();
    return json?.ok === true || (json?.ok === false && typeof json.error === "string") ? json : null;
  } catch {
    return null;
  }
}

async function post(address, body) {
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), TIME_LIMIT);
  try {
    const response = await fetch(address, {
      method: "POST", body, signal: stop.signal,
      headers: { "Content-Type": "application/json", "Accept-Language": document.documentElement.lang },
      credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error",
    });
    const json = await collectorAnswer(response);
    return { status: response.status, wait: Number(response.headers.get("Retry-After")) || 0, json };
  } catch {
    return { status: 0, wait: 0, json: null }; // no connection, or no answer in time
  } finally {
    clearTimeout(timer);
  }
}

/** Whether this is the registration of this very token: its first half, and 16 digits of the collector's. */
function registers(registered, token) {
  return /^[0-9a-f]{32}$/.test(registered ?? "") && registered.startsWith(token.slice(0, 16));
}

/** The coins of a token, and the token as it was registered; or an error that says why there are none: with the
 * collector's code, or with none. */
export async function askCoins(id, token) {
  const { json } = await post(`/api/surveys/${id}/coins`, JSON.stringify({ token }));
  if (json?.ok && Array.isArray(json.coins) && registers(json.token, token)) return { token: json.token, coins: json.coins };
  throw Object.assign(new Error(json?.message), { code: json?.error ?? "unreachable" });
}

/** Why nobody is asked by a personal link, as far as the collector says: it has sent its report, or is not one of its
 * links, and what is drawn for it would be sent and not counted. null: nothing is said against it. */
export async function linkProblem(id, token) {
  const { json } = await post(`/api/surveys/${id}/link`, JSON.stringify({ token }));
  return json?.used === true ? "link.used" : json?.error === "unknown-link" ? "link.unknown" : null;
}

export class Delivery {
  /** tell(state, details): "kept", "sending", "retry", "busy", "offline", "stopped", "received", "refused".
   * asked: it may have arrived before, without an answer that came back. */
  constructor(id, body, asked, tell) {
    Object.assign(this, { address: `/api/surveys/${id}/reports`, body, asked, tell, tries: 0, timer: null, busy: false });
    addEventListener("online", () => this.timer !== null && this.now());
  }

  /** Start, or start again: the number of tries is counted from here. The first is made even where the device is said to
      be offline, which browsers are sometimes wrong about. */
  start() {
    this.tries = 0;
    return this.now();
  }

  async now() {
    if (this.busy) return;
    this.stop();
    this.busy = true;
    this.tell("sending");
    const { status, wait, json } = await post(this.address, this.body);
    this.busy = false;
    if (json?.ok && json.stored) this.tell("received", json);
    else if (json === null || json.ok || LATER.includes(status)) {
      this.asked = true;
      this.wait(json === null ? "retry" : "busy", wait);
    } else this.tell("refused", { code: json.error, reason: json.message ?? json.error, asked: this.asked });
  }

  wait(state, wanted) {
    if (navigator.onLine === false) return this.later(MAX_WAIT, "offline");
    if (this.tries >= WAITS.length) return this.tell("stopped");
    return this.later(Math.min(MAX_WAIT, Math.max(wanted, WAITS[this.tries++])), state);
  }

  /** Try again in so many seconds, and count them down. By a clock that nobody sets back. */
  later(seconds, state) {
    this.tell(state, { n: seconds });
    const end = performance.now() + 1000 * seconds;
    this.timer = setInterval(() => {
      const left = Math.ceil((end - performance.now()) / 1000);
      if (left <= 0) this.now();
      else if (state !== "offline") this.tell(state, { n: left, counting: true });
    }, 1000);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }
}
