import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../election/host.js';
import type { Driver } from '../../election/port.js';
import { EXIT } from '../exit-codes.js';
import { CommandFailure } from '../usage-error.js';
import { WRITE_EVERY_MS } from './measure.js';
import type { OwnEnsemble } from './own-ensemble.js';
import type { Trouble } from './proposal.js';
import { silences } from './silence.js';
import { Writing } from './writing.js';

/** Shares of T for which this process is made to stand still. */
const PAUSES = [0.1, 0.3, 0.5] as const;

/** How often each kind of server is killed and started again. */
const RESTARTS = 3;

const RECOVERY_MS = 60_000;

export interface Injected {
  /** What a pause of a process costs: hardly more than itself, which is what has to be shown. */
  readonly pauses: readonly { readonly pausedMs: number; readonly silenceMs: number }[];
  /** The silence around each restart. */
  readonly leaderRestartsMs: readonly number[];
  readonly followerRestartsMs: readonly number[];
}

/** Troubles a session with an ensemble of our own, and looks how long it was silent. */
export async function inject(
  host: Host,
  driver: Driver,
  ensemble: OwnEnsemble,
  onProgress: (line: string) => void,
  signal: AbortSignal,
): Promise<Injected> {
  const session = await driver.open(signal);
  try {
    const writing = await Writing.begin(host, session, '/tenure/sessions', WRITE_EVERY_MS);
    await sleep(1_000, undefined, { signal });
    const around = async (trouble: () => Promise<void>): Promise<number> => {
      const from = performance.now();
      await trouble();
      const over = performance.now();
      while (writing.newestConfirmed < over) {
        if (!writing.lives || performance.now() - over > RECOVERY_MS) throw lost(session.timeoutMs);
        await sleep(20, undefined, { signal });
      }
      return longest(
        silences(writing.written.writes.filter(({ confirmedAt }) => confirmedAt >= from - 2 * WRITE_EVERY_MS)),
      );
    };
    const pauses: { pausedMs: number; silenceMs: number }[] = [];
    for (const share of PAUSES) {
      const pausedMs = Math.round(share * session.timeoutMs);
      onProgress(`standing still for ${pausedMs} ms`);
      pauses.push({ pausedMs, silenceMs: await around(async () => standStill(pausedMs)) });
    }
    const restarts = { leader: [] as number[], follower: [] as number[] };
    for (const mode of ['follower', 'leader'] as const) {
      for (let i = 1; i <= RESTARTS; i += 1) {
        onProgress(`killing a server that is ${mode} (${i} of ${RESTARTS})`);
        restarts[mode].push(await around(() => ensemble.restart(mode, signal)));
      }
    }
    await writing.stop();
    return { pauses, leaderRestartsMs: restarts.leader, followerRestartsMs: restarts.follower };
  } finally {
    await session.close();
  }
}

/** Nothing of this process runs meanwhile, as in a long turn of the event loop or a garbage collection that stops the world. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const longest = (found: readonly { readonly ms: number }[]): number =>
  found.reduce((most, { ms }) => Math.max(most, ms), 0);

function lost(timeoutMs: number): CommandFailure {
  const message = `the session was lost under injected trouble: a timeout of ${timeoutMs} ms does not outlast it; ask for a longer one with --session-timeout`;
  return new CommandFailure(EXIT.failure, 'SESSION_LOST', message);
}

/** What a timeout has to outlast, by the worst of each kind that is not of our choosing. */
export function injectedTroubles({ leaderRestartsMs, followerRestartsMs }: Injected): Trouble[] {
  return [
    { what: "a restart of the ensemble's leader", ms: Math.max(0, ...leaderRestartsMs) },
    { what: 'a restart of a follower', ms: Math.max(0, ...followerRestartsMs) },
  ];
}
