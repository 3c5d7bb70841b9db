// The keystream of a memoised client: AES-256 in counter mode (FIPS 197; NIST SP 800-38A, 6.5), as in
// src/murmure/core/random.py. Word i of a lane is half of block i / 2, the top 32 bits of whose counter are the lane.
//
// Only for the bits that a device keeps: those must follow from its key. Everything else comes from crypto.getRandomValues.

import { Range } from "./words.js";

// Multiplication by x in GF(2^8), then the S-box as FIPS 197 (5.1.1) defines it: computed, so no digit can be wrong.
const double = a => ((a << 1) ^ (a & 0x80 ? 0x11b : 0)) & 0xff;
const SBOX = new Uint8Array(256);
for (let p = 1, q = 1; ; ) {
  p ^= double(p); // times 3
  q ^= q << 1; // divided by 3
  q ^= q << 2;
  q ^= q << 4;
  q = (q ^ (q & 0x80 ? 0x09 : 0)) & 0xff;
  const turn = by => ((q << by) | (q >> (8 - by))) & 0xff;
  SBOX[p] = q ^ turn(1) ^ turn(2) ^ turn(3) ^ turn(4) ^ 0x63;
  if (p === 1) break;
}
SBOX[0] = 0x63;

// SubBytes and MixColumns of one byte: the column (2, 1, 1, 3) times its S-box, the first in the top byte.
const MIX = Uint32Array.from(SBOX, byte => (double(byte) << 24) | (byte << 16) | (byte << 8) | (byte ^ double(byte)));
const ROUNDS = 14;

const turn = (word, by) => (word >>> by) | (word << (32 - by));
const substitute = word =>
  (SBOX[word >>> 24] << 24) | (SBOX[(word >>> 16) & 255] << 16) | (SBOX[(word >>> 8) & 255] << 8) | SBOX[word & 255];

/** The round keys of a key of 32 bytes, four words a round. */
function expand(key) {
  const view = new DataView(key.buffer, key.byteOffset, 32), words = new Uint32Array(4 * (ROUNDS + 1));
  for (let i = 0; i < 8; i++) words[i] = view.getUint32(4 * i);
  for (let i = 8, constant = 1; i < words.length; i++) {
    let word = words[i - 1];
    if (i % 8 === 0) {
      word = substitute(turn(word, 24)) ^ (constant << 24);
      constant = double(constant);
    } else if (i % 8 === 4) {
      word = substitute(word);
    }
    words[i] = words[i - 8] ^ word;
  }
  return words;
}

/** A block of four words, in place. */
function encrypt(keys, block) {
  const moved = new Uint32Array(4);
  for (let i = 0; i < 4; i++) block[i] ^= keys[i];
  for (let round = 1; round <= ROUNDS; round++) {
    for (let i = 0; i < 4; i++) { // row r of a column comes from the column r further on
      const a = block[i] >>> 24, b = (block[(i + 1) & 3] >>> 16) & 255, c = (block[(i + 2) & 3] >>> 8) & 255;
      const d = block[(i + 3) & 3] & 255;
      moved[i] = round < ROUNDS
        ? MIX[a] ^ turn(MIX[b], 8) ^ turn(MIX[c], 16) ^ turn(MIX[d], 24)
        : (SBOX[a] << 24) | (SBOX[b] << 16) | (SBOX[c] << 8) | SBOX[d];
    }
    for (let i = 0; i < 4; i++) block[i] = moved[i] ^ keys[4 * round + i];
  }
}

/** The bytes of a word the other way round: words of the stream are read with the low byte first. */
const swapped = word => (turn(word, 24) & 0x00ff00ff) | (turn(word, 8) & 0xff00ff00);

/** The words of one range of a key's stream, the first of each lane on: `main` of them at once, deep ones when asked. */
export function keystream(key, main) {
  const keys = expand(key), halves = new Uint32Array(2 * main + 2); // an odd number of words ends inside a block
  const block = (lane, index) => {
    const words = Uint32Array.of(lane, 0, 0, index);
    encrypt(keys, words);
    return words.map(swapped);
  };
  for (let i = 0; 2 * i < main; i++) halves.set(block(0, i), 4 * i);
  const deep = index => block(1, Math.floor(index / 2)).slice(index % 2 ? 2 : 0, index % 2 ? 4 : 2);
  return new Range(halves.slice(0, 2 * main), deep);
}
