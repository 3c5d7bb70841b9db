// SHA-256 (FIPS 180-4). crypto.subtle has it too, but only asynchronously, and not on a page of a local network that is
// served without TLS: a class-room. Its constants are computed, so that no table can have a wrong digit.

/** The first 32 bits of the fractional part of the n-th root of a prime, exactly: no float is rounded. */
function fraction(prime, root) {
  const value = BigInt(prime) << BigInt(32 * root);
  let low = 0n, high = 1n << 64n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(root) <= value) low = middle;
    else high = middle;
  }
  return Number(BigInt.asUintN(32, low));
}

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every(p => n % p)) PRIMES.push(n);
const START = PRIMES.slice(0, 8).map(p => fraction(p, 2));
const ROUNDS = PRIMES.map(p => fraction(p, 3));
const turn = (x, by) => (x >>> by) | (x << (32 - by));

/** The 32 bytes of the digest of some bytes. */
export function sha256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64), view = new DataView(padded.buffer);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = Int32Array.from(START), w = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((value, i) => out.setInt32(4 * i, value));
  return new Uint8Array(out.buffer);
}

export const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
