import type { Random } from '../../src/verify/random.js';

/** Numbers that programs trip over. */
const INTERESTING = [-1, 0, 1, -2, 2, 4, 0x7f, 0xff, 0xffff, 0x100000, 2 ** 31 - 1, -(2 ** 31), 0x01000000, -101, -112];

/** Some ways in which bytes go wrong: flipped, cut, grown, overwritten, repeated, moved, replaced. */
export function mutate(random: Random, frame: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(frame);
  const times = 1 + random.below(4);
  for (let i = 0; i < times; i++) bytes = once(random, bytes);
  return bytes;
}

function once(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + random.below(16));
  switch (random.below(8)) {
    case 0:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      return bytes;
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), noise(random), bytes.subarray(at)]);
    case 3:
      if (at + 4 <= bytes.length) bytes.writeInt32BE(INTERESTING[random.below(INTERESTING.length)] ?? 0, at);
      return bytes;
    case 4:
      return Buffer.concat([bytes, bytes.subarray(at, to)]);
    case 5:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to), bytes.subarray(at, to)]);
    case 6:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    default:
      return noise(random);
  }
}

function noise(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
}

/** With the length before it, which may be a lie. */
export function framed(random: Random, payload: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(random.chance(0.1) ? (INTERESTING[random.below(INTERESTING.length)] ?? 0) : payload.length);
  return Buffer.concat([length, payload]);
}
