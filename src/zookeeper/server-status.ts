import { ask, type Word } from './four-letter-words.js';
import type { ServerAddress } from './servers.js';

/**
 * What a server says that it does. `looking`: it runs and serves nobody, for want of a quorum; `down`: no answer;
 * `unknown`: it answers, but isn't allowed to say.
 */
export type ServerMode =
  | 'leader'
  | 'follower'
  | 'observer'
  | 'standalone'
  | 'read-only'
  | 'looking'
  | 'down'
  | 'unknown';

/** What one server says of itself. */
export interface ServerStatus {
  /** What it says that it does. */
  readonly mode: ServerMode;
  /** Of requests, since the server's start or last reset. */
  readonly latencyMs: {
    /** The shortest. */
    readonly min: number;
    /** The mean. */
    readonly avg: number;
    /** The longest. */
    readonly max: number;
  } | null;
  /** Requests that wait in it. */
  readonly outstanding: number | null;
  /** The last transaction that it has applied: the epoch in the upper 32 bits. */
  readonly zxid: bigint | null;
  /** A leader's voters that keep up with it, itself not counted; null where it isn't allowed to say. */
  readonly syncedFollowers: number | null;
  /** As it prints it, such as `3.9.5-293c895…, built on 2026-02-11`; null where it isn't allowed to say. */
  readonly version: string | null;
  /** Words that are not in its whitelist. */
  readonly refused: readonly Word[];
  /** Why it is down; empty otherwise. */
  readonly error: string;
}

const MODES: ReadonlySet<string> = new Set(['leader', 'follower', 'observer', 'standalone', 'read-only']);

const SILENT: ServerStatus = {
  mode: 'unknown',
  latencyMs: null,
  outstanding: null,
  zxid: null,
  syncedFollowers: null,
  version: null,
  refused: [],
  error: '',
};

/** Asks one server. Never rejects: a server that doesn't answer is `down`. */
export async function serverStatus(server: ServerAddress, timeoutMs: number): Promise<ServerStatus> {
  let status: ServerStatus;
  try {
    status = fromSrvr(await ask(server, 'srvr', timeoutMs));
  } catch (error) {
    return { ...SILENT, mode: 'down', error: (error as Error).message };
  }
  if (status.mode !== 'leader' && status.mode !== 'unknown') return status;
  try {
    // Only this word knows how many followers are in step.
    return fromMntr(await ask(server, 'mntr', timeoutMs), status);
  } catch (error) {
    // It answered a moment ago: it has gone away since.
    return { ...SILENT, mode: 'down', error: (error as Error).message };
  }
}

export function fromSrvr(answer: string): ServerStatus {
  if (isRefusal(answer)) return { ...SILENT, refused: ['srvr'] };
  if (isIdle(answer)) return { ...SILENT, mode: 'looking' };
  const latency = /^Latency min\/avg\/max: ([\d.]+)\/([\d.]+)\/([\d.]+)/m.exec(answer);
  const zxid = /^Zxid: (0x[0-9a-f]+)/m.exec(answer)?.[1];
  const outstanding = /^Outstanding: (\d+)/m.exec(answer)?.[1];
  return {
    ...SILENT,
    version: /^Zookeeper version: (.+)$/m.exec(answer)?.[1] ?? null,
    mode: modeOf(/^Mode: (.+)$/m.exec(answer)?.[1]),
    latencyMs: latency === null ? null : { min: Number(latency[1]), avg: Number(latency[2]), max: Number(latency[3]) },
    outstanding: outstanding === undefined ? null : Number(outstanding),
    zxid: zxid === undefined ? null : BigInt(zxid),
  };
}

/** Adds what `mntr` knows to what `srvr` said. */
export function fromMntr(answer: string, known: ServerStatus): ServerStatus {
  if (isRefusal(answer)) return { ...known, refused: [...known.refused, 'mntr'] };
  if (isIdle(answer)) return { ...known, mode: 'looking' };
  const values = new Map(answer.split('\n').map((line) => line.split('\t', 2) as [string, string | undefined]));
  const number = (key: string): number | null => {
    const value = Number.parseFloat(values.get(`zk_${key}`) ?? '');
    return Number.isFinite(value) ? value : null;
  };
  const [min, avg, max] = [number('min_latency'), number('avg_latency'), number('max_latency')];
  const synced = number('synced_followers');
  return {
    ...known,
    mode: known.mode === 'unknown' ? modeOf(values.get('zk_server_state')) : known.mode,
    version: known.version ?? values.get('zk_version') ?? null,
    latencyMs: known.latencyMs ?? (min === null || avg === null || max === null ? null : { min, avg, max }),
    outstanding: known.outstanding ?? number('outstanding_requests'),
    // Followers that don't vote are among them.
    syncedFollowers: synced === null ? null : Math.max(0, synced - (number('synced_non_voting_followers') ?? 0)),
  };
}

function modeOf(text: string | undefined): ServerMode {
  return text !== undefined && MODES.has(text) ? (text as ServerMode) : 'unknown';
}

export function isRefusal(answer: string): boolean {
  return answer.includes('is not executed because it is not in the whitelist');
}

function isIdle(answer: string): boolean {
  return answer.includes('is not currently serving requests');
}
