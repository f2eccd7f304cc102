import { waitFor } from '../../deploy/local/index.js';
import { sleep } from '../../src/verify/monotonic.js';
import type { Arena } from './arena.js';
import type { Contender } from './contenders.js';
import { inTurn, Samples } from './figures.js';
import type { Player } from './player.js';
import { Yardsticks } from './raw.js';

/** The successor has to have looked at the queue and to be watching; nobody's API tells when it does. */
const SETTLED_MS = 150;
const WARM_UP = 3;
/** Hand-overs of one contender in each round. */
const BLOCK = 5;

interface Pair {
  readonly contender: Contender;
  readonly queue: string;
  readonly players: readonly Player[];
}

async function handOver({ contender, queue, players }: Pair, arena: Arena): Promise<number> {
  await arena.queueOf(contender, queue, 2);
  const leader = await waitFor(() => players.find(({ leads }) => leads), { what: 'a leader', timeoutMs: 60_000 });
  await sleep(SETTLED_MS);
  const next = players.find((player) => player !== leader);
  if (next === undefined) throw new Error('two candidates are needed');
  const [left, heard] = [leader.said.length, next.said.length];
  leader.leave();
  const what = `${contender.label} to hand over`;
  const led = await next.hears(({ event }) => event === 'led', { what, from: heard });
  const lost = await leader.hears(({ event }) => event === 'lost', { what, from: left });
  // It stands behind the new leader the next time: not before its own place is gone.
  await arena.queueOf(contender, queue, 1);
  leader.join();
  return led.at - lost.at;
}

/** From the moment at which the leader gives up to the next one's saying that it leads. */
export async function handovers(
  arena: Arena,
  all: readonly Contender[],
  rounds: number,
  say: (line: string) => void,
): Promise<{ readonly took: Samples; readonly raw: Samples }> {
  const etcd = all.find(({ coordinator }) => coordinator === 'etcd');
  if (etcd === undefined) throw new Error('etcd is among the contenders');
  const [took, raw] = [new Samples(), new Samples()];
  await using yardsticks = await Yardsticks.open(arena, etcd);
  const pairs: Pair[] = [];
  for (const contender of all) {
    const stand = arena.stand(contender, 4 * arena.timeoutMs);
    const players = await Promise.all(['a', 'b'].map((id) => arena.candidate(contender, stand, id)));
    for (const player of players) player.join();
    const pair = { contender, queue: contender.queue(stand.election), players };
    for (let turn = 0; turn < WARM_UP; turn++) await handOver(pair, arena);
    pairs.push(pair);
  }
  await yardsticks.measure(new Samples(), WARM_UP);
  for (let round = 0; round < rounds; round++) {
    say(`hand-overs, round ${round + 1} of ${rounds}`);
    for (const pair of inTurn(pairs, round)) {
      for (let turn = 0; turn < BLOCK; turn++) took.add(pair.contender.name, await handOver(pair, arena));
    }
    await yardsticks.measure(raw, BLOCK);
  }
  await Promise.all(pairs.flatMap(({ players }) => players.map((player) => player.end())));
  return { took, raw };
}
