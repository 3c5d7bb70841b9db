// What this device keeps: the report (never the answer, never the words that drew it), the token that goes with it,
// what was spent on each question, and for waves the device's key. Where a browser keeps nothing, until a reload.

import { hexOf, sha256 } from "../client/sha256.js";

const HEAD = "murmure";

/** Storage that can be read. One that is full can still hold a report of an earlier visit. */
function readable(name) {
  try {
    const area = globalThis[name];
    area.getItem(HEAD);
    return area;
  } catch {
    return null;
  }
}

function writable(area) {
  const probe = `${HEAD}:probe`;
  try {
    area.setItem(probe, "1");
    area.removeItem(probe);
    return true;
  } catch {
    return false;
  }
}

class Area {
  constructor(name) {
    this.area = readable(name);
    this.writable = writable(this.area);
    this.memory = new Map(); // what the browser does not keep
  }

  /** Whether all of it would be there after a reload. */
  get keeps() {
    return this.writable && this.memory.size === 0;
  }

  get(key) {
    const text = this.memory.get(key) ?? this.area?.getItem(`${HEAD}:${key}`) ?? null;
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  set(key, value) {
    const text = JSON.stringify(value);
    try {
      this.area.setItem(`${HEAD}:${key}`, text);
      this.memory.delete(key);
    } catch { // no storage, or a full one
      this.memory.set(key, text);
    }
  }

  delete(key) {
    this.memory.delete(key);
    this.area?.removeItem(`${HEAD}:${key}`);
  }
}

const randomHex = bytes => hexOf(crypto.getRandomValues(new Uint8Array(bytes)));

export class DeviceStore {
  constructor({ id, wave }) {
    [this.id, this.wave, this.tag] = [id, wave, null];
    this.local = new Area("localStorage");
    this.session = new Area("sessionStorage");
  }

  get keeps() {
    return this.local.keeps;
  }

  // -- the report of this wave: { token } once coins were asked for, { token, body, asked } once it is drawn,
  // -- { report, plan, received } once it is acknowledged, { refused } if it cannot be counted.
  // -- Several people may open their personal links on one device: each link has its record.

  get place() {
    return `report:${this.id}:${this.wave}`;
  }

  /** Whose the things are that are kept: an ending of their names. Nothing on open links, where devices are not told apart. */
  get owner() {
    return this.tag ? `:${this.tag}` : "";
  }

  /** The token of a personal link, or null. */
  choose(token) {
    this.tag = token === null ? null : hexOf(sha256(new TextEncoder().encode(token))).slice(0, 16);
  }

  get pinned() {
    const all = this.local.get(this.place) ?? {};
    return (this.tag ? all[this.tag] : Object.values(all).at(-1)) ?? null;
  }

  set pinned(record) {
    const all = this.local.get(this.place) ?? {}, tag = this.tag ?? Object.keys(all).at(-1) ?? "open";
    delete all[tag]; // the newest is the last
    this.local.set(this.place, { ...all, [tag]: record });
  }

  /** Whether a report was drawn for this wave, in whichever tab, and whatever became of it. */
  get drawn() {
    const { body, received, refused } = this.pinned ?? {};
    return Boolean(body ?? received ?? refused);
  }

  // -- the link: its fragment is taken out of the address, and must survive a reload and a change of language

  get link() {
    return this.session.get(`link:${this.id}`);
  }

  set link(link) {
    if (link === null) this.session.delete(`link:${this.id}`);
    else this.session.set(`link:${this.id}`, link);
  }

  makeToken() {
    return randomHex(16);
  }

  /** The token of an earlier wave: a personal link is used in all of them. */
  earlierToken() {
    for (let wave = this.wave - 1; wave > 0; wave--) {
      const records = Object.values(this.local.get(`report:${this.id}:${wave}`) ?? {});
      if (records.at(-1)?.token) return records.at(-1).token;
    }
    return null;
  }

  // -- the key of memoised bits, and which answers it was used for: { key, seen }. Each personal link has its own: the
  // -- page asks back where an answer has changed, and would tell the next person what the one before has answered.

  get memo() {
    const memo = this.local.get(`memo:${this.id}${this.owner}`) ?? { key: randomHex(32), seen: [] };
    return { key: Uint8Array.from(memo.key.match(/../g), byte => parseInt(byte, 16)), seen: memo.seen };
  }

  set memo({ key, seen }) {
    this.local.set(`memo:${this.id}${this.owner}`, { key: hexOf(key), seen });
  }

  // -- what was spent on a question, by the digest of its texts: { "survey:wave:owner": epsilon }

  spend(digest, entry, epsilon) {
    this.local.set(`spent:${digest}`, { ...this.local.get(`spent:${digest}`), [entry]: epsilon });
  }

  /** What was spent under other entries than this one, or null where there is no other. */
  spentElsewhere(digest, entry) {
    const { [entry]: _, ...others } = this.local.get(`spent:${digest}`) ?? {}, all = Object.values(others);
    return all.length ? all.reduce((sum, one) => sum + one, 0) : null;
  }

  spentHere(digest, entry) {
    return this.local.get(`spent:${digest}`)?.[entry] ?? 0;
  }
}
