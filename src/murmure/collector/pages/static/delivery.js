// Sending a kept report until it is acknowledged: the same text each time, a bounded number of tries, and every state
// is told, so that "kept here" never looks like "sent".

const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between tries
const MAX_WAIT = 120;
const TIME_LIMIT = 20000; // of one try
const LATER = [408, 429, 500, 502, 503, 504]; // statuses after which the same text may be sent again

async function post(address, body) {
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), TIME_LIMIT);
  try {
    const response = await fetch(address, {
      method: "POST", body, headers: { "Content-Type": "application/json" }, signal: stop.signal,
      credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
    });
    let json = null;
    try {
      json = await response.json();
    } catch {
      // a proxy may answer with a page
    }
    return { status: response.status, wait: Number(response.headers.get("Retry-After")) || null, json };
  } finally {
    clearTimeout(timer);
  }
}

/** Whether this is the registration of this very token: its first half, and 16 digits of the collector's. */
function registers(registered, token) {
  return /^[0-9a-f]{32}$/.test(registered ?? "") && registered.startsWith(token.slice(0, 16));
}

/** The coins of a token, and the token as it was registered; or an error that says why there are none. */
export async function askCoins(id, token) {
  const { status, json } = await post(`/api/surveys/${id}/coins`, JSON.stringify({ token }));
  if (status === 200 && json?.ok && registers(json.token, token)) return { token: json.token, coins: json.coins };
  throw Object.assign(new Error(json?.message ?? `HTTP ${status}`), { code: json?.error });
}

export class Delivery {
  /** tell(state, details): "kept", "sending", "retry", "busy", "offline", "stopped", "received", "refused". */
  constructor(id, body, tell) {
    Object.assign(this, { address: `/api/surveys/${id}/reports`, body, tell, tries: 0, timer: null, busy: false });
    addEventListener("online", () => this.timer !== null && this.now());
  }

  /** Start, or start again: the number of tries is counted from here. */
  start() {
    this.tries = 0;
    return this.now();
  }

  async now() {
    if (this.busy) return;
    this.stop();
    if (navigator.onLine === false) {
      this.later(MAX_WAIT, "offline");
      return;
    }
    this.busy = true;
    this.tell("sending");
    let answer = null;
    try {
      answer = await post(this.address, this.body);
    } catch {
      // no connection, or no answer in time
    }
    this.busy = false;
    const { status, json } = answer ?? {};
    if (json?.ok === true && status < 300) this.tell("received", json);
    else if (answer === null || LATER.includes(status)) this.wait(answer);
    else this.tell("refused", { code: json?.error ?? "refused", reason: json?.message ?? `HTTP ${status}` });
  }

  wait(answer) {
    if (navigator.onLine === false) return this.later(MAX_WAIT, "offline");
    if (this.tries >= WAITS.length) return this.tell("stopped");
    const seconds = Math.min(MAX_WAIT, Math.max(answer?.wait ?? 0, WAITS[this.tries++]));
    return this.later(seconds, answer ? "busy" : "retry");
  }

  /** Try again in so many seconds, and count them down. */
  later(seconds, state) {
    this.tell(state, { n: seconds });
    const end = Date.now() + 1000 * seconds;
    this.timer = setInterval(() => {
      const left = Math.ceil((end - Date.now()) / 1000);
      if (left <= 0) this.now();
      else if (state !== "offline") this.tell(state, { n: left, counting: true });
    }, 1000);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }
}
