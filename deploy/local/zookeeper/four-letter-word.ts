import { connect } from 'node:net';

export type Word = 'ruok' | 'srvr' | 'mntr' | 'stat' | 'cons' | 'wchs' | 'wchp' | 'conf' | 'dump';

/** Sends one of ZooKeeper's four letter words and returns the answer. Rejects when the server can't be reached or is silent. */
export function fourLetterWord(host: string, port: number, word: Word, timeoutMs = 1_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new Error(`${word} at ${host}:${port}: ${reason}`));
    };
    let answer = '';
    socket.setTimeout(timeoutMs, () => fail(`no answer in ${timeoutMs} ms`));
    socket.setEncoding('utf8');
    socket.once('connect', () => socket.write(word));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => resolve(answer));
  });
}

/**
 * What a server is at this moment. `looking`: it runs and serves nobody, for want of a quorum. `down`: it can't be reached.
 * A leader that was cut off goes on calling itself one until its syncLimit is over.
 */
export type Mode = 'leader' | 'follower' | 'observer' | 'standalone' | 'read-only' | 'looking' | 'down';

export async function mode(host: string, port: number, timeoutMs?: number): Promise<Mode> {
  try {
    const answer = await fourLetterWord(host, port, 'srvr', timeoutMs);
    return (/^Mode: (.+)$/m.exec(answer)?.[1] as Mode | undefined) ?? 'looking';
  } catch {
    return 'down';
  }
}
