// What this device keeps: the report (never the answer, never the words that drew it), the token that goes with it,
// what was spent on each question, and for waves the device's key. Where a browser keeps nothing, until a reload.

import { hexOf, sha256 } from "../client/sha256.js";

const HEAD = "murmure";

function usable(name) {
  try {
    const area = globalThis[name], probe = `${HEAD}:probe`;
    area.setItem(probe, "1");
    area.removeItem(probe);
    return area;
  } catch {
    return null;
  }
}

class Area {
  constructor(name) {
    this.area = usable(name);
    this.memory = new Map(); // what the browser does not keep
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
    return this.local.area !== null && this.local.memory.size === 0;
  }

  // -- the report of this wave: { token } once coins were asked for, { token, body, asked } once it is drawn,
  // -- { report, plan, received } once it is acknowledged, { refused } if it cannot be counted.
  // -- Several people may open their personal links on one device: each link has its record.

  get place() {
    return `report:${this.id}:${this.wave}`;
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

  // -- the key of memoised bits, and which answers it was used for: { key, seen }

  get memo() {
    const memo = this.local.get(`memo:${this.id}`) ?? { key: randomHex(32), seen: [] };
    return { key: Uint8Array.from(memo.key.match(/../g), byte => parseInt(byte, 16)), seen: memo.seen };
  }

  set memo({ key, seen }) {
    this.local.set(`memo:${this.id}`, { key: hexOf(key), seen });
  }

  // -- what was spent on a question, by the digest of its texts: { "survey:wave": epsilon }

  spend(digest, entry, epsilon) {
    this.local.set(`spent:${digest}`, { ...this.local.get(`spent:${digest}`), [entry]: epsilon });
  }

  /** All that was spent, and in how many surveys. */
  spentOn(digest) {
    const all = Object.values(this.local.get(`spent:${digest}`) ?? {});
    return { epsilon: all.reduce((sum, one) => sum + one, 0), surveys: all.length };
  }
}
