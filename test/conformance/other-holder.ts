import { connect } from 'node:net';

/**
 * Ends a session as anybody can who knows its id: over plain TCP, with the password that ZooKeeper
 * derives from the id. The session's own client is not asked.
 */
export async function closeAsOtherHolder(host: string, port: number, sessionId: string): Promise<void> {
  const connectRequest = Buffer.alloc(45);
  connectRequest.writeInt32BE(10_000, 12);
  connectRequest.write(sessionId, 16, 'hex');
  connectRequest.writeInt32BE(16, 24);
  passwordOf(BigInt(`0x${sessionId}`)).copy(connectRequest, 28);
  const closeRequest = Buffer.alloc(8);
  closeRequest.writeInt32BE(1, 0);
  closeRequest.writeInt32BE(-11, 4);
  const socket = connect({ host, port });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    // The server hangs up when it has closed the session.
    socket.once('close', () => resolve());
    socket.resume();
    socket.write(Buffer.concat([framed(connectRequest), framed(closeRequest)]));
  });
}

function framed(request: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(request.length);
  return Buffer.concat([length, request]);
}

/** The first 16 bytes of Java's `new Random(id ^ 0xB3415C00L)`: its linear congruential generator, lowest byte of each draw first. */
function passwordOf(id: bigint): Buffer {
  const password = Buffer.alloc(16);
  let state = (id ^ 0xb3415c00n ^ MULTIPLIER) & MASK;
  for (let at = 0; at < password.length; at += 4) {
    state = (state * MULTIPLIER + 0xbn) & MASK;
    password.writeUInt32LE(Number(state >> 16n), at);
  }
  return password;
}

const MULTIPLIER = 0x5deece66dn;
const MASK = (1n << 48n) - 1n;
