import { OP, XID } from '../../src/zookeeper/wire/codes.js';
import { JuteWriter } from '../../src/zookeeper/wire/jute.js';

/** Replies as a server sends them, without the length: what the mutations begin with. */

export function connectReply(timeoutMs: number, id = 0x0100_0000_0000_0001n): Buffer {
  return new JuteWriter().int(0).int(timeoutMs).long(id).bytes(Buffer.alloc(16, 7)).bool(false).finish();
}

function stat(writer: JuteWriter): void {
  writer.long(5n).long(6n).long(1_700_000_000_000n).long(1_700_000_000_001n).int(1).int(2).int(0).long(0n).int(3);
  writer.int(4).long(7n);
}

const BODIES: Readonly<Record<number, (writer: JuteWriter) => void>> = {
  [OP.create2]: (writer) => stat(writer.text('/a/b-0000000001')),
  [OP.createContainer]: (writer) => stat(writer.text('/a/c')),
  [OP.createTtl]: (writer) => stat(writer.text('/a/t')),
  [OP.exists]: stat,
  [OP.getData]: (writer) => stat(writer.bytes(Buffer.from('{"v":1,"term":7}'))),
  [OP.setData]: stat,
  [OP.sync]: (writer) => writer.text('/a'),
  [OP.getChildren2]: (writer) =>
    stat(writer.list(['_c_1-lock-0000000001', '_c_2-lock-0000000002', 'ä'], (name) => writer.text(name))),
  [OP.multi]: (writer) => {
    writer.int(OP.check).bool(false).int(0);
    writer.int(OP.setData).bool(false).int(0);
    stat(writer);
    writer.int(OP.create2).bool(false).int(0);
    stat(writer.text('/a/n'));
    writer.int(OP.error).bool(false).int(-103).int(-103);
    writer.int(-1).bool(true).int(-1);
  },
  [OP.whoAmI]: (writer) => writer.list(['ip'], (scheme) => writer.text(scheme).text('127.0.0.1')),
};

/** The reply to a request. */
export function reply(xid: number, op: number, code = 0): Buffer {
  const writer = new JuteWriter().int(xid).long(42n).int(code);
  if (code === 0) BODIES[op]?.(writer);
  return writer.finish();
}

export function event(type: number, path: string): Buffer {
  return new JuteWriter().int(XID.event).long(-1n).int(0).int(type).int(3).text(path).finish();
}

/** One of each kind. */
export function samples(): Buffer[] {
  return [
    connectReply(4_000),
    ...Object.keys(BODIES).map((op) => reply(1, Number(op))),
    reply(1, OP.exists, -101),
    reply(XID.ping, OP.ping),
    reply(XID.auth, OP.auth),
    reply(XID.setWatches, OP.setWatches2),
    ...[1, 2, 3, 4, -1].map((type) => event(type, '/a/b')),
  ];
}
