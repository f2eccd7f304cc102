import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { monotonicMs, sleep } from '../../src/verify/monotonic.js';
import { compileSource } from '../compiled.js';
import type { Arena } from './arena.js';
import { Samples } from './figures.js';
import { Player, type Said } from './player.js';

/** Long enough for a session to live through the burst on a busy machine. */
const SESSION_MS = 20_000;

/** Milliseconds, bytes of heap an election, and ratios to the raw writes of the same round. */
export const MANY = {
  creates: 'raw: pipelined creates',
  first: 'all joined, the first process (its queues are made, and it leads)',
  queued: 'all queued, the second process',
  heapLeading: 'heap an election that leads',
  heapQueued: 'heap an election that waits',
  removals: 'raw: pipelined deletes',
  claims: 'raw: pipelined compare-and-sets',
  takeover: 'SIGKILL of the first → the second leads all',
  queuedRatio: 'queued / raw creates',
  takeoverRatio: 'takeover / raw deletes and compare-and-sets',
} as const;

/** Many elections in one Tenure process, and a second process behind it in all of them, which takes them over. */
export async function many(
  arena: Arena,
  elections: number,
  rounds: number,
  say: (line: string) => void,
): Promise<Samples> {
  const samples = new Samples();
  const module = pathToFileURL(join(compileSource('tenure-bench'), 'index.js')).href;
  const program = fileURLToPath(new URL('./programs/many.ts', import.meta.url));
  const servers = arena.ensemble.connectString;
  // Names that nobody has used: the first process of each round makes the queues.
  const words = (what: string, round = 0): string[] => [
    ...[process.execPath, '--expose-gc', '--import', 'tsx', program, module, servers],
    ...[`many-${round}`, String(elections), String(SESSION_MS), what],
  ];
  const counted = (player: Player, what: string, from = 0): Promise<Said> =>
    player.hears((said) => said.event === 'count' && said['what'] === what, {
      what: `${elections} elections to be ${what}`,
      timeoutMs: 300_000,
      from,
    });
  const raw = async (what: string): Promise<Said> => {
    const player = await Player.start(words(what));
    await player.exited;
    const said = player.said.find(({ event }) => event === 'raw');
    if (said === undefined) throw new Error(`the raw ${what} didn't come to an end`);
    return said;
  };
  const heapEach = async (player: Player, before: number): Promise<number> => {
    const from = player.said.length;
    player.leave();
    return (Number((await counted(player, 'heap', from))['bytes']) - before) / elections;
  };
  for (let round = 0; round < rounds; round++) {
    say(`${elections} elections in one process, round ${round + 1} of ${rounds}`);
    const creates = Number((await raw('creates'))['creates']);
    samples.add(MANY.creates, creates);
    const first = await Player.start(words('elections', round));
    first.join();
    const firstBefore = Number((await counted(first, 'heap'))['bytes']);
    samples.add(MANY.first, Number((await counted(first, 'led'))['took']));
    await sleep(2_000);
    samples.add(MANY.heapLeading, await heapEach(first, firstBefore));
    const second = await Player.start(words('elections', round));
    second.join();
    const secondBefore = Number((await counted(second, 'heap'))['bytes']);
    const queued = Number((await counted(second, 'joined'))['took']);
    samples.add(MANY.queued, queued);
    samples.add(MANY.queuedRatio, queued / creates);
    await sleep(3_000);
    samples.add(MANY.heapQueued, await heapEach(second, secondBefore));
    const takeoverRaw = await raw('takeover');
    samples.add(MANY.removals, Number(takeoverRaw['removals']));
    samples.add(MANY.claims, Number(takeoverRaw['claims']));
    const killedAt = monotonicMs();
    await first.kill();
    const takeover = (await counted(second, 'led')).at - killedAt;
    samples.add(MANY.takeover, takeover);
    samples.add(MANY.takeoverRatio, takeover / (Number(takeoverRaw['removals']) + Number(takeoverRaw['claims'])));
    await second.kill();
    // Its lifeline ends what it led.
    await sleep(3_000);
  }
  return samples;
}
