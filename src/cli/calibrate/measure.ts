import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../election/host.js';
import type { Driver } from '../../election/port.js';
import { type LocalPauses, watchPauses } from './local-pauses.js';
import { type Silence, silences } from './silence.js';
import { Writing, type Written } from './writing.js';

/** Densely, so that a trouble is met wherever it begins; still a light load. */
export const WRITE_EVERY_MS = 50;

export interface Measured {
  readonly forMs: number;
  readonly grantedMs: number;
  readonly written: Written;
  readonly silences: readonly Silence[];
  readonly pauses: LocalPauses;
  /** The session died on the way, so the measurement ended. */
  readonly expired: boolean;
}

/** Measures for so long, or until told to stop: then what there is counts. */
export async function measure(
  host: Host,
  driver: Driver,
  parent: string,
  forMs: number,
  signal: AbortSignal,
): Promise<Measured> {
  const session = await driver.open(signal);
  try {
    const writing = await Writing.begin(host, session, parent, WRITE_EVERY_MS);
    const pauses = watchPauses();
    const from = performance.now();
    while (performance.now() - from < forMs && writing.lives && !signal.aborted) {
      const left = forMs - (performance.now() - from);
      await sleep(Math.max(1, Math.min(200, left)), undefined, { signal }).catch(() => {});
    }
    const tookMs = performance.now() - from;
    const local = pauses.stop();
    const expired = !writing.lives;
    // A silence that hasn't ended is one, too; between two writes it is none.
    const now = performance.now();
    const pending = now - writing.newestConfirmed;
    const written = await writing.stop();
    const found = silences(written.writes);
    if (pending > 4 * WRITE_EVERY_MS && written.writes.length > 0) found.push({ at: now, ms: pending });
    return { forMs: tookMs, grantedMs: session.timeoutMs, written, silences: found, pauses: local, expired };
  } finally {
    await session.close();
  }
}
