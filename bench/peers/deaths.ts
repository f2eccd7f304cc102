import { waitFor } from '../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../src/verify/monotonic.js';
import type { Arena } from './arena.js';
import type { Contender, Stand } from './contenders.js';
import { inTurn, Samples } from './figures.js';
import type { Player } from './player.js';

export type Death = 'kill' | 'freeze';

/** Between one contender's death and the next one's, so that they weigh little on one another. */
const APART_MS = 400;
/** How long a thawed leader is given to say that it has lost. */
const PATIENCE_MS = 15_000;

export interface Deaths {
  /** From SIGKILL or SIGSTOP to the successor's saying that it leads. */
  readonly took: Samples;
  /** From SIGCONT, with the successor in office, to the old leader's being told. */
  readonly believed: Samples;
  /** Tenure only: from SIGCONT to the last `assert()` that passed; 0 where none did. */
  readonly asserted: Samples;
}

interface Contest {
  readonly contender: Contender;
  readonly stand: Stand;
  leader: Player;
  successor: Player;
}

async function join(arena: Arena, contender: Contender, stand: Stand, count: number): Promise<Player> {
  const player = await arena.candidate(contender, stand, `candidate-${Math.round(monotonicMs())}`);
  player.join();
  await arena.queueOf(contender, contender.queue(stand.election), count);
  return player;
}

async function contest(arena: Arena, contender: Contender): Promise<Contest> {
  const stand = arena.stand(contender);
  const leader = await join(arena, contender, stand, 1);
  await waitFor(() => leader.leads, { what: `${contender.label} to lead`, timeoutMs: 60_000 });
  return { contender, stand, leader, successor: await join(arena, contender, stand, 2) };
}

async function once(each: Contest, death: Death, deaths: Deaths): Promise<void> {
  const { contender, leader, successor } = each;
  const heard = successor.said.length;
  const begin = monotonicMs();
  if (death === 'kill') void leader.kill();
  else leader.freeze();
  const what = `the successor of ${contender.label} to lead`;
  const led = await successor.hears(({ event }) => event === 'led', { what, from: heard });
  deaths.took.add(contender.name, led.at - begin);
  if (death === 'kill') return;
  await sleep(500);
  const thawed = monotonicMs();
  leader.thaw();
  const lost = await leader
    .hears(({ event }) => event === 'lost', { what: 'the old leader to be told', timeoutMs: PATIENCE_MS })
    .catch(() => undefined);
  deaths.believed.add(contender.name, lost === undefined ? Number.POSITIVE_INFINITY : lost.at - thawed);
  if (lost?.held !== undefined) deaths.asserted.add(contender.name, Math.max(0, lost.held - thawed));
}

async function replace(arena: Arena, each: Contest): Promise<void> {
  await each.leader.kill();
  each.leader = each.successor;
  const queue = each.contender.queue(each.stand.election);
  await arena.queueOf(each.contender, queue, 1);
  each.successor = await join(arena, each.contender, each.stand, 2);
}

/** Leader after leader is killed or frozen. Those of all contenders in turn, without waiting for the one before. */
export async function deaths(
  arena: Arena,
  all: readonly Contender[],
  death: Death,
  rounds: number,
  say: (line: string) => void,
): Promise<Deaths> {
  const result: Deaths = { took: new Samples(), believed: new Samples(), asserted: new Samples() };
  const contests = await Promise.all(all.map((contender) => contest(arena, contender)));
  for (let round = 0; round < rounds; round++) {
    say(`${death}s, round ${round + 1} of ${rounds}`);
    // Spread over the ticks of the servers, and long enough for a successor to have seen signs of life.
    await sleep(arena.timeoutMs / 4 + Math.random() * 1_000);
    const ends: Promise<void>[] = [];
    for (const each of inTurn(contests, round)) {
      ends.push(once(each, death, result));
      await sleep(APART_MS);
    }
    await Promise.all(ends);
    if (round < rounds - 1) await Promise.all(contests.map((each) => replace(arena, each)));
  }
  await Promise.all(contests.flatMap(({ leader, successor }) => [leader.kill(), successor.kill()]));
  return result;
}
