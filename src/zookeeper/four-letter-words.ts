import { connect } from 'node:net';
import type { ServerAddress } from './servers.js';

/** Words of ZooKeeper's that only read. `srvr` alone is allowed by default. */
export type Word = 'srvr' | 'mntr' | 'conf' | 'dump';

/** Far above any answer: what talks on without end is no ZooKeeper. */
const LONGEST_ANSWER = 1 << 20;

/**
 * Sends a word to one server over plain TCP and returns its answer. It takes no session, so it tells of a server that
 * serves nobody, too.
 *
 * @throws the socket's error, or an Error that says that the answer was late, too long or empty
 */
export function ask(server: ServerAddress, word: Word, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const socket = connect(server.port, server.host, () => socket.write(word));
    // Counts the resolution of the name, too.
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    socket.on('data', (part) => {
      parts.push(part);
      length += part.length;
      if (length > LONGEST_ANSWER) socket.destroy(new Error('the answer has no end'));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      if (length === 0) reject(new Error('closed without an answer'));
      else resolve(Buffer.concat(parts).toString('utf8'));
    });
  });
}
