import { expect, it } from 'vitest';
import { Random } from '../../src/verify/random.js';
import { FrameReader } from '../../src/zookeeper/wire/frames.js';
import { readConnectReply } from '../../src/zookeeper/wire/handshake.js';
import { JuteReader, MalformedError } from '../../src/zookeeper/wire/jute.js';
import * as replies from '../../src/zookeeper/wire/replies.js';
import { framed, mutate } from './mutations.js';
import { samples } from './replies.js';

/** TENURE_FUZZ_FRAMES=1000000 for the long form. */
const FRAMES = Number(process.env['TENURE_FUZZ_FRAMES'] ?? 100_000);
const SEED = Number(process.env['TENURE_FUZZ_SEED'] ?? 20_261_130);

/** What is taken of one frame, in bytes; the samples are far shorter. */
const LIMIT = 4_096;

type Read = (reader: JuteReader) => unknown;

const READERS: readonly Read[] = [
  replies.readStat,
  replies.readCreated,
  replies.readNodeData,
  replies.readChildren,
  replies.readWatchEvent,
  replies.readIdentities,
  replies.readMulti,
];

/** How many bytes the values of a record hold. */
function weight(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + 8 + weight(item), 0);
  if (typeof value === 'object' && value !== null) return weight(Object.values(value));
  return 8;
}

it(`${FRAMES} mutated frames: read, or refused as malformed, and never more than was sent`, {
  timeout: 600_000,
}, () => {
  const random = new Random(SEED);
  const valid = samples();
  let reader = new FrameReader(LIMIT);
  let read = 0;
  let refused = 0;
  for (let i = 0; i < FRAMES; i++) {
    const payload = mutate(random, valid[random.below(valid.length)] ?? Buffer.alloc(0));
    const sent = framed(random, payload);
    const cut = random.below(sent.length + 1);
    try {
      for (const piece of [sent.subarray(0, cut), sent.subarray(cut)]) {
        for (const frame of reader.push(piece)) {
          if (frame.length > LIMIT) throw new Error(`a frame of ${frame.length} bytes`);
          if (random.chance(0.1)) readConnectReply(frame);
          const body = new JuteReader(frame);
          replies.readHeader(body);
          const value = READERS[random.below(READERS.length)]?.(body);
          if (weight(value) > 8 * frame.length + 200) throw new Error(`too much from ${frame.toString('hex')}`);
          read += 1;
        }
      }
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      refused += 1;
      // As a connection does: nothing that comes behind it is believed.
      reader = new FrameReader(LIMIT);
    }
  }
  // Both happen often, or nothing was tried.
  expect(read).toBeGreaterThan(FRAMES / 50);
  expect(refused).toBeGreaterThan(FRAMES / 50);
});

it('a frame that is announced and comes byte by byte takes no more memory than has come', () => {
  const length = 8 * 2 ** 20;
  const reader = new FrameReader(length);
  const head = Buffer.alloc(4);
  head.writeInt32BE(length);
  const before = process.memoryUsage();
  expect([...reader.push(head)]).toEqual([]);
  let frames = 0;
  for (let i = 0; i < 200_000; i++) frames += [...reader.push(Buffer.of(i & 0xff))].length;
  expect(frames).toBe(0);
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * 2 ** 20);
});
