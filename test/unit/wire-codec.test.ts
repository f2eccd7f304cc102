import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameReader, frame, LENGTH_BYTES } from '../../src/zookeeper/wire/frames.js';
import { connectFrame, readConnectReply, sessionIdOf, sessionIdText } from '../../src/zookeeper/wire/handshake.js';
import { JuteReader, JuteWriter, MalformedError } from '../../src/zookeeper/wire/jute.js';
import { readStat } from '../../src/zookeeper/wire/replies.js';
import { closeSession, remove, requestFrame, setData } from '../../src/zookeeper/wire/requests.js';

const LIMIT = 1_000;

function framed(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}

/** Cuts the bytes at the given places. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

it('reads back what it has written, every number exactly', () => {
  const record = fc.tuple(
    fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.boolean(),
    fc.uint8Array({ maxLength: 500 }),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.string({ unit: 'grapheme' })),
  );
  fc.assert(
    fc.property(record, ([int, long, bool, bytes, text, list]) => {
      const writer = new JuteWriter(0, 1);
      writer.int(int).long(long).bool(bool).bytes(bytes).text(text);
      writer.list(list, (item) => writer.text(item));
      const reader = new JuteReader(writer.finish());
      expect([reader.int(), reader.long(), reader.bool()]).toEqual([int, long, bool]);
      expect(new Uint8Array(reader.bytes())).toEqual(bytes);
      expect(reader.text()).toBe(text);
      expect(reader.list(4, () => reader.text())).toEqual(list);
      expect(reader.remaining).toBe(0);
    }),
  );
});

it('gives the same frames however they were cut on the way', () => {
  const payloads = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 });
  fc.assert(
    fc.property(payloads, fc.array(fc.nat({ max: 5_000 }), { maxLength: 40 }), (sent, cuts) => {
      const reader = new FrameReader(LIMIT);
      const received: Uint8Array[] = [];
      for (const piece of pieces(Buffer.concat(sent.map(framed)), cuts)) {
        for (const payload of reader.push(piece)) received.push(Uint8Array.from(payload));
      }
      expect(received).toEqual(sent);
    }),
  );
});

it.each([-1, -(2 ** 31), LIMIT + 1, 2 ** 31 - 1])('takes no frame that announces %i bytes', (length) => {
  const lie = Buffer.alloc(LENGTH_BYTES);
  lie.writeInt32BE(length);
  expect(() => [...new FrameReader(LIMIT).push(lie)]).toThrow(MalformedError);
  const reader = new FrameReader(LIMIT);
  expect([...reader.push(lie.subarray(0, 2))]).toEqual([]);
  expect(() => [...reader.push(lie.subarray(2))]).toThrow(MalformedError);
});

it('believes no length inside of a frame', () => {
  const lies = [new JuteWriter().int(6).finish(), new JuteWriter().int(-2).finish(), Buffer.alloc(3)];
  for (const lie of lies) {
    expect(() => new JuteReader(lie).bytes()).toThrow(MalformedError);
    expect(() => new JuteReader(lie).text()).toThrow(MalformedError);
    expect(() => new JuteReader(lie).list(4, () => 0)).toThrow(MalformedError);
  }
  expect(() => new JuteReader(new JuteWriter().int(2 ** 31 - 1).finish()).list(4, () => 0)).toThrow(MalformedError);
});

it('keeps nothing of a reply alive by the data that was in it', () => {
  const source = new JuteWriter().bytes(Buffer.from('abc')).finish();
  const data = new JuteReader(source).bytes();
  source.fill(0);
  expect(data.toString()).toBe('abc');
});

it('writes the requests of one who ends a session, byte for byte', () => {
  const identity = { id: sessionIdOf('f00000000000001a'), password: Buffer.from('0123456789abcdef') };
  expect(connectFrame({ identity, timeoutMs: 10_000, lastZxid: 0x1_0000_0002n }).toString('hex')).toBe(
    '0000002d0000000000000001000000020000' + '2710f00000000000001a0000001030313233343536373839616263646566' + '00',
  );
  expect(requestFrame(1, setData('/a', Buffer.from('x'), -1)).toString('hex')).toBe(
    '000000170000000100000005' + '000000022f61' + '0000000178' + 'ffffffff',
  );
  expect(requestFrame(2, remove('/a', 7)).toString('hex')).toBe('000000120000000200000002000000022f6100000007');
  expect(requestFrame(3, closeSession).toString('hex')).toBe('0000000800000003fffffff5');
});

it('reads the reply to a connect request, with and without the last word', () => {
  const identity = { id: -1n, password: Buffer.alloc(16, 7) };
  const writer = new JuteWriter().int(0).int(4_000).long(identity.id).bytes(identity.password);
  expect(readConnectReply(writer.finish())).toEqual({ timeoutMs: 4_000, identity, readOnly: false });
  expect(readConnectReply(writer.bool(true).finish())).toEqual({ timeoutMs: 4_000, identity, readOnly: true });
});

it('keeps session ids of 64 bits, whatever their sign', () => {
  for (const text of ['ffffffffffffffff', '0000000000000001', '8000000000000000', '01000013c35d0000']) {
    expect(sessionIdText(sessionIdOf(text))).toBe(text);
  }
});

it.each([
  [0n, null],
  [0x01000013c35d0000n, '01000013c35d0000'],
  [-(2n ** 63n), null],
  [BigInt.asIntN(64, 0xff00_0000_0000_2710n), null],
  [BigInt.asIntN(64, 0xfe00_0000_0000_2710n), 'fe00000000002710'],
])('of the owner %i makes %o', (owner, shown) => {
  const writer = new JuteWriter()
    .long(2n ** 62n + 1n)
    .long(2n ** 62n + 3n)
    .long(5n)
    .long(6n)
    .int(1)
    .int(2)
    .int(3);
  const stat = readStat(new JuteReader(writer.long(owner).int(4).int(5).long(9n).finish()));
  expect(stat).toEqual({
    czxid: 2n ** 62n + 1n,
    mzxid: 2n ** 62n + 3n,
    ctime: 5,
    mtime: 6,
    version: 1,
    cversion: 2,
    owner: shown,
    children: 5,
  });
});

it('reserves the length of a frame, and fills it in', () => {
  expect(frame(new JuteWriter(LENGTH_BYTES).int(1)).toString('hex')).toBe('0000000400000001');
});
