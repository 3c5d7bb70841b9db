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

const ROUNDS = 14;

/** The round keys of a key of 32 bytes. */
function expand(key) {
  const out = new Uint8Array(16 * (ROUNDS + 1));
  out.set(key);
  for (let at = 32, constant = 1; at < out.length; at += 4) {
    let word = [...out.subarray(at - 4, at)];
    if (at % 32 === 0) {
      word = [SBOX[word[1]] ^ constant, SBOX[word[2]], SBOX[word[3]], SBOX[word[0]]];
      constant = double(constant);
    } else if (at % 32 === 16) {
      word = word.map(byte => SBOX[byte]);
    }
    word.forEach((byte, i) => (out[at + i] = byte ^ out[at + i - 32]));
  }
  return out;
}

function encrypt(keys, block) {
  const state = block.map((byte, i) => byte ^ keys[i]), moved = new Uint8Array(16);
  for (let round = 1; round <= ROUNDS; round++) {
    for (let i = 0; i < 16; i++) moved[i] = SBOX[state[(i + 4 * (i % 4)) % 16]]; // row r turns by r columns
    for (let column = 0; column < 16; column += 4) {
      const all = moved[column] ^ moved[column + 1] ^ moved[column + 2] ^ moved[column + 3];
      for (let row = 0; row < 4; row++) {
        const byte = moved[column + row], next = moved[column + ((row + 1) % 4)];
        state[column + row] = (round < ROUNDS ? byte ^ all ^ double(byte ^ next) : byte) ^ keys[16 * round + column + row];
      }
    }
  }
  return state;
}

/** The words of one range of a key's stream, the first of each lane on: `main` of them at once, deep ones when asked. */
export function keystream(key, main) {
  const keys = expand(key), halves = new Uint32Array(2 * main + 2); // an odd number of words ends inside a block
  const block = (lane, index) => {
    const counter = new Uint8Array(16), view = new DataView(counter.buffer);
    view.setUint32(0, lane);
    view.setUint32(12, index);
    const out = new DataView(encrypt(keys, counter).buffer);
    return [0, 4, 8, 12].map(at => out.getUint32(at, true)); // words are read with the low byte first
  };
  for (let i = 0; 2 * i < main; i++) halves.set(block(0, i), 4 * i);
  const deep = index => block(1, Math.floor(index / 2)).slice(index % 2 ? 2 : 0, index % 2 ? 4 : 2);
  return new Range(halves.slice(0, 2 * main), deep);
}
