// BLAKE2b with a key and a personal tag (RFC 7693): what gives a memoised client one stream for each value. Each word of
// 64 bits is two halves, since BigInts would take milliseconds for a question with a thousand labels.

const START = [
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
];
const ORDER = [ // of the words of a message, in rounds 0 to 9; 10 and 11 are 0 and 1 again
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map(row => [...row].map(digit => parseInt(digit, 16)));
const QUADS = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];

const v = new Uint32Array(32), m = new Uint32Array(32);

/** v[a] += the word at `from` of an array. */
function add(a, array, from) {
  const low = v[2 * a] + array[2 * from];
  v[2 * a + 1] = v[2 * a + 1] + array[2 * from + 1] + (low >= 2 ** 32 ? 1 : 0);
  v[2 * a] = low;
}

/** v[a] = (v[a] XOR v[b]), turned right by so many bits. */
function xorTurn(a, b, by) {
  const low = v[2 * a] ^ v[2 * b], high = v[2 * a + 1] ^ v[2 * b + 1];
  const one = by >= 32 ? high : low, other = by >= 32 ? low : high, rest = by % 32;
  v[2 * a] = rest ? (one >>> rest) | (other << (32 - rest)) : one;
  v[2 * a + 1] = rest ? (other >>> rest) | (one << (32 - rest)) : other;
}

function compress(h, block, length, last) {
  const view = new DataView(block.buffer, block.byteOffset, 128);
  for (let i = 0; i < 32; i++) m[i] = view.getUint32(4 * i, true);
  v.set(h);
  v.set(START, 16);
  v[24] ^= length; // messages here are far below 2**32 bytes
  if (last) {
    v[28] = ~v[28];
    v[29] = ~v[29];
  }
  for (let round = 0; round < 12; round++) {
    const order = ORDER[round % 10];
    for (let i = 0; i < 8; i++) {
      const quad = QUADS[i], a = quad[0], b = quad[1], c = quad[2], d = quad[3];
      add(a, v, b);
      add(a, m, order[2 * i]);
      xorTurn(d, a, 32);
      add(c, v, d);
      xorTurn(b, c, 24);
      add(a, v, b);
      add(a, m, order[2 * i + 1]);
      xorTurn(d, a, 16);
      add(c, v, d);
      xorTurn(b, c, 63);
    }
  }
  for (let i = 0; i < 16; i++) h[i] ^= v[i] ^ v[i + 16];
}

/**
 * The first 32 bytes under a key of 1 to 64 bytes; person: at most 16 bytes of text in ASCII. The message comes in two
 * parts, prefix and end: the prefix, which may be long, is worked through once, and the function that is returned takes
 * an end.
 */
export function blake2b(prefix, key, person) {
  const parameters = new Uint8Array(64), start = Uint32Array.from(START);
  parameters.set([32, key.length, 1, 1]);
  parameters.set(new TextEncoder().encode(person), 48);
  const view = new DataView(parameters.buffer);
  for (let i = 0; i < 16; i++) start[i] ^= view.getUint32(4 * i, true);
  const bytes = new Uint8Array(128 + prefix.length); // the key is the first block
  bytes.set(key);
  bytes.set(prefix, 128);
  let done = 0;
  // The last block is compressed in another way, so one that may be the last is left to the end.
  for (; done + 128 < bytes.length; done += 128) compress(start, bytes.subarray(done, done + 128), done + 128, false);
  const tail = bytes.slice(done);
  return end => finished(start.slice(), done, tail, end);
}

function finished(h, done, tail, end) {
  const length = tail.length + end.length, bytes = new Uint8Array(128 * Math.max(1, Math.ceil(length / 128)));
  bytes.set(tail);
  bytes.set(end, tail.length);
  for (let at = 0; at < bytes.length; at += 128) {
    const last = at + 128 === bytes.length;
    compress(h, bytes.subarray(at, at + 128), done + (last ? length : at + 128), last);
  }
  v.fill(0);
  m.fill(0);
  const out = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i++) out.setUint32(4 * i, h[i], true);
  return new Uint8Array(out.buffer);
}
