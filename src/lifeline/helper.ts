/**
 * The helper: a process that outlives its parent for as long as it takes to end what that leaves behind.
 *
 * It waits, without a timer, for the end of the pipe from its parent; looks whether the parent is really dead; kills the
 * child of `tenure run`; and ends the parent's sessions. It also kills that child when the lease is over by the machine's
 * clocks, as a frozen parent can't. It never touches the session of a parent that lives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { killChild } from './child.js';
import { endSession } from './ending.js';
import { Estate, type SessionEstate } from './estate.js';
import { MessageReader } from './messages.js';
import { type Identification, parentIsDead } from './parent.js';
import { type Reach, reachOf } from './reach.js';
import { until } from './shared-clock.js';

/** While the pipe has ended and the parent lives: from the first look to the next, and at most. */
const LOOK_MS = 1;
const LONGEST_LOOK_MS = 500;

/** A timer sleeps through a suspension of the machine, which uses the lease up: none that watches a lease sleeps longer. */
const LONGEST_NAP_MS = 500;

/** From one kill to the next, until nothing of the child runs any more. */
const KILL_AGAIN_MS = 10;

/** What of a child can't be killed in this time isn't going to die: its session is left to expire. */
const KILL_FOR_MS = 60_000;

// The parent's terminal and supervisor mean the parent. We end by ourselves when it has.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const [pid, startTime] = process.argv.slice(2);
const parent: Identification = { pid: Number(pid), startTime: startTime === undefined ? null : startTime };
const estate = new Estate();
/** How each session's servers are reached. */
const reaches = new Map<string, Promise<Reach>>();
let leaseTimer: NodeJS.Timeout | undefined;

/** The lease may have been renewed, or the child be another one. */
function watchLease(): void {
  clearTimeout(leaseTimer);
  const { child, leaseEnd } = estate;
  if (child.state === 'none' || leaseEnd === null) return;
  const remaining = until(leaseEnd);
  if (remaining > 0) {
    leaseTimer = setTimeout(watchLease, Math.min(Math.ceil(remaining), LONGEST_NAP_MS));
    return;
  }
  const lives = killChild(child);
  // A child that is only being started may not show its mark yet.
  if (lives || child.state === 'starting') leaseTimer = setTimeout(watchLease, KILL_AGAIN_MS);
}

async function childKilled(): Promise<boolean> {
  const giveUpAt = performance.now() + KILL_FOR_MS;
  while (killChild(estate.child)) {
    if (performance.now() > giveUpAt) return false;
    await sleep(KILL_AGAIN_MS);
  }
  return true;
}

async function end(session: SessionEstate): Promise<void> {
  const { id } = session.credentials;
  // What could not be made ready before may be possible now.
  const reach = await (reaches.get(id) ?? reachOf(session.credentials)).catch(() => reachOf(session.credentials));
  await endSession(session, reach);
}

async function pipeEnded(): Promise<void> {
  let lookMs = LOOK_MS;
  while (!estate.empty && !parentIsDead(parent)) {
    await sleep(lookMs);
    lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS);
  }
  clearTimeout(leaseTimer);
  // Nobody may be told that these terms are over while anything still works for one of them.
  if (await childKilled()) {
    await Promise.allSettled(estate.sessions.map(end));
  }
  process.exit(0);
}

const reader = new MessageReader();
let ended = false;
const onEnd = (): void => {
  if (ended) return;
  ended = true;
  void pipeEnded();
};
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  for (const message of reader.push(text)) {
    estate.told(message);
    if (message.tell === 'session') {
      const reach = reachOf(message.session);
      reach.catch(() => {});
      reaches.set(message.session.id, reach);
    } else if (message.tell === 'over') {
      reaches.delete(message.id);
    }
  }
  watchLease();
});
process.stdin.on('end', onEnd).on('error', onEnd).on('close', onEnd);
