import { createConnection } from 'node:net';
import type { ZooKeeperServer } from '../../deploy/local/index.js';
import type { Line } from '../../src/verify/lines.js';

/**
 * Ends a session at once, as if it had expired: attaches to it as its other holder and closes it. Its client is held up on its
 * line meanwhile: thrown off, it would take the session back first, which voids the close.
 */
export async function expire(server: ZooKeeperServer, sessionId: string, line: Line): Promise<void> {
  await line.stall('requests', 'replies');
  await attachAndClose(server.host, server.clientPort, sessionId);
  await line.mend();
  // The old connection would be left in silence until its client loses patience with it.
  await line.drop();
}

function attachAndClose(host: string, port: number, sessionId: string): Promise<void> {
  const connect = Buffer.alloc(49);
  connect.writeInt32BE(45, 0);
  connect.writeInt32BE(4_000, 16);
  Buffer.from(sessionId, 'hex').copy(connect, 20);
  connect.writeInt32BE(16, 28);
  passwordOf(sessionId).copy(connect, 32);
  const close = Buffer.alloc(12);
  close.writeInt32BE(8, 0);
  close.writeInt32BE(1, 4);
  close.writeInt32BE(-11, 8);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host, port }, () => socket.write(Buffer.concat([connect, close])));
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** ZooKeeper's passwords are no secret: the bytes of Java's generator, seeded with the id and a constant of its source. */
function passwordOf(sessionId: string): Buffer {
  const mask = (1n << 48n) - 1n;
  const multiplier = 0x5deece66dn;
  let state = (BigInt(`0x${sessionId}`) ^ 0xb3415c00n ^ multiplier) & mask;
  const password = Buffer.alloc(16);
  for (let at = 0; at < 16; at += 4) {
    state = (state * multiplier + 0xbn) & mask;
    password.writeInt32LE(Number(BigInt.asIntN(32, state >> 16n)), at);
  }
  return password;
}
