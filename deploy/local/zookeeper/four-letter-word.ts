import { exchange } from '../exchange.js';

export type Word = 'ruok' | 'srvr' | 'mntr' | 'stat' | 'cons' | 'wchs' | 'wchp' | 'conf' | 'dump';

/** Sends one of ZooKeeper's four letter words and returns the answer. Rejects when the server can't be reached or is silent. */
export function fourLetterWord(host: string, port: number, word: Word, timeoutMs?: number): Promise<string> {
  return exchange(host, port, word, undefined, timeoutMs);
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
