import { setTimeout as sleep } from 'node:timers/promises';
import { sessionIdOf } from '../zookeeper/wire/handshake.js';
import { remove, setData } from '../zookeeper/wire/requests.js';
import type { Address } from './address.js';
import { Attempt, type Plan } from './attempt.js';
import type { SessionEstate } from './estate.js';
import type { Reach } from './reach.js';

const DIED = new TextEncoder().encode('{"v":1,"ended":"died"}');

/** A server that hasn't answered for so long doesn't hold up the next one; twice as long in each round. */
const HEDGE_MS = 100;

const LONGEST_HEDGE_MS = 2_000;

/** After a refusal, before the next server is asked. */
const REFUSED_MS = 10;

/** How long the mark can be read before it goes with the session: and so much longer for each term, as a successor of all has much to do. */
const MARK_STAYS_MS = 1_000;
const MARK_STAYS_FOR_EACH_MS = 2;

/**
 * Ends the session of a process that is dead: marks its session znode, so that its successors need not be patient, deletes
 * the candidate znodes of its terms, all in one round trip; and closes the session when the successors have had the time
 * to read the mark. Gives up when the session must be over by itself.
 */
export async function endSession(estate: SessionEstate, reach: Reach): Promise<void> {
  const { credentials, node, leading } = estate;
  const { id, password, timeoutMs, auth } = credentials;
  const plan: Plan = {
    identity: { id: sessionIdOf(id), password: Buffer.from(password, 'hex') },
    timeoutMs,
    auth,
    requests: [...(node === null ? [] : [setData(node, DIED, -1)]), ...[...leading].map((path) => remove(path, -1))],
  };
  const overAt = performance.now() + timeoutMs;
  let attempt = await firstAnswer(reach, plan, overAt);
  if (attempt !== null && leading.size > 0) {
    await sleep(Math.min(MARK_STAYS_MS + leading.size * MARK_STAYS_FOR_EACH_MS, timeoutMs / 2));
  }
  while (attempt !== null && performance.now() < overAt) {
    // The server may have gone meanwhile.
    if (attempt.connected) {
      await Promise.race([attempt.close(), sleep(Math.max(0, overAt - performance.now()))]);
      break;
    }
    attempt = await firstAnswer(reach, { ...plan, requests: [] }, overAt);
  }
  attempt?.destroy();
}

/** Asks one server after the other, until one has answered. @returns null where the session is over */
async function firstAnswer({ addresses, dial }: Reach, plan: Plan, overAt: number): Promise<Attempt | null> {
  const attempts = new Map<Address, Attempt>();
  try {
    for (let hedgeMs = HEDGE_MS; performance.now() < overAt; hedgeMs = Math.min(hedgeMs * 2, LONGEST_HEDGE_MS)) {
      for (const address of addresses) {
        attempts.get(address)?.destroy();
        attempts.set(address, new Attempt(dial(address), plan));
        const answered = await within(hedgeMs, [...attempts.values()]);
        if (answered === null) continue;
        // The others are behind it: whatever they do is done already.
        for (const [key, each] of attempts) if (each === answered.attempt) attempts.delete(key);
        if (answered.outcome === 'answered') return answered.attempt;
        answered.attempt.destroy();
        return null;
      }
    }
    return null;
  } finally {
    for (const attempt of attempts.values()) attempt.destroy();
  }
}

interface Answered {
  readonly attempt: Attempt;
  readonly outcome: 'answered' | 'over';
}

/** The first attempt that is answered; null when none has been heard for so long, or the newest has failed. */
function within(ms: number, attempts: readonly Attempt[]): Promise<Answered | null> {
  return new Promise((resolve) => {
    const look = (): void => {
      // One that is being answered is not disturbed: another attempt would take the session from it.
      const quietMs = performance.now() - Math.max(...attempts.map(({ heardAt }) => heardAt));
      if (quietMs >= ms) resolve(null);
      else timer = setTimeout(look, ms - quietMs);
    };
    let timer = setTimeout(look, ms);
    const settle = (answered: Answered): void => {
      clearTimeout(timer);
      resolve(answered);
    };
    for (const attempt of attempts) {
      attempt.done.then(
        (outcome) => settle({ attempt, outcome }),
        () => {},
      );
    }
    // Refused at once: the next server need not wait, but a ring of refusals shall not spin.
    attempts.at(-1)?.done.catch(() => {
      if (attempts.some(({ heardAt }) => performance.now() - heardAt < ms)) return;
      clearTimeout(timer);
      setTimeout(() => resolve(null), REFUSED_MS);
    });
  });
}
