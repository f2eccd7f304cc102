import { waitFor, type ZooKeeperServer } from '../../deploy/local/index.js';
import { Lines } from '../../src/verify/lines.js';
import { sleep } from '../../src/verify/monotonic.js';
import type { Arena } from './arena.js';
import type { Contender } from './contenders.js';
import { figures, inTurn, Samples } from './figures.js';
import { Player } from './player.js';

/** So long that no session ends by the noise of many clients in one process, and that few signs of life pass. */
const SESSION_MS = 40_000;

/** What one failover by resignation costs the servers, the signs of life left out. */
export interface Cost {
  readonly requests: number;
  readonly replies: number;
  readonly requestBytes: number;
  readonly replyBytes: number;
}

interface Counting {
  /** Where the clients go. */
  readonly servers: string;
  read(): Promise<Cost>;
  close(): Promise<void>;
}

async function counting(arena: Arena, contender: Contender): Promise<Counting> {
  if (contender.coordinator === 'etcd') {
    const read = async (): Promise<Cost> => {
      const { requests, signsOfLife, ...rest } = await arena.etcd.counters();
      return { ...rest, requests: requests - signsOfLife };
    };
    return { servers: arena.etcd.addresses[0] ?? '', read, close: async () => {} };
  }
  const lines = new Lines();
  const line = await lines.to(arena.ensemble.servers[0] as ZooKeeperServer);
  const read = async (): Promise<Cost> => {
    const { requests, replies } = await line.traffic();
    return {
      requests: requests.packets,
      replies: replies.packets,
      requestBytes: requests.bytes,
      replyBytes: replies.bytes,
    };
  };
  return { servers: line.address, read, close: () => lines.close() };
}

export interface CostOptions {
  /** How many candidates stand. */
  readonly sizes: readonly number[];
  readonly failovers: number;
  /** Longer than all that a failover causes takes to be answered. */
  readonly settledMs: number;
}

async function cost(
  arena: Arena,
  contender: Contender,
  candidates: number,
  { failovers, settledMs }: CostOptions,
): Promise<Cost> {
  const count = await counting(arena, contender);
  const stand = { ...arena.stand(contender, SESSION_MS), servers: count.servers };
  const crowd = await Player.start(contender.crowd(stand, candidates, 'one'));
  crowd.join();
  await arena.queueOf(contender, contender.queue(stand.election), candidates);
  const samples: Record<keyof Cost, number[]> = { requests: [], replies: [], requestBytes: [], replyBytes: [] };
  const keys = Object.keys(samples) as (keyof Cost)[];
  // Somebody has to be left.
  for (let failover = 0; failover < Math.min(failovers, candidates - 1); failover++) {
    await waitFor(() => crowd.leads, { what: `a leader of ${contender.label}`, timeoutMs: 60_000 });
    await sleep(settledMs);
    const before = await count.read();
    const heard = crowd.said.length;
    crowd.leave();
    await crowd.hears(({ event }) => event === 'led', { what: `${contender.label} to hand over`, from: heard });
    await sleep(settledMs);
    const after = await count.read();
    for (const key of keys) samples[key].push(after[key] - before[key]);
  }
  await crowd.kill();
  await count.close();
  return Object.fromEntries(keys.map((key) => [key, figures(samples[key]).median])) as unknown as Cost;
}

export interface Costs {
  readonly name: string;
  readonly candidates: number;
  readonly cost: Cost;
}

/** By the number of candidates, medians of some failovers each. */
export async function costs(
  arena: Arena,
  all: readonly Contender[],
  options: CostOptions,
  say: (line: string) => void,
): Promise<Costs[]> {
  const result: Costs[] = [];
  for (const [round, candidates] of options.sizes.entries()) {
    for (const contender of inTurn(all, round)) {
      say(`costs of a failover: ${contender.label}, ${candidates} candidates`);
      result.push({ name: contender.name, candidates, cost: await cost(arena, contender, candidates, options) });
    }
  }
  return result;
}

export interface Idle {
  /** A second, beyond what the servers receive without any candidate. */
  readonly requests: Samples;
  /** Shares of one core that all three servers take, beyond what they take without any candidate. */
  readonly cpu: Samples;
}

/** So many elections with two candidates each, on two sessions in two processes; nothing happens. */
export async function idle(
  arena: Arena,
  all: readonly Contender[],
  options: { readonly elections: number; readonly rounds: number; readonly seconds: number; readonly pauseMs: number },
  say: (line: string) => void,
): Promise<Idle> {
  const result: Idle = { requests: new Samples(), cpu: new Samples() };
  const window = async (coordinator: Contender['coordinator']): Promise<{ requests: number; cpu: number }> => {
    const begin = performance.now();
    const [requests, cpu] = [await arena.requests(coordinator), arena.cpuSeconds(coordinator)];
    await sleep(options.seconds * 1_000);
    const [more, later] = [await arena.requests(coordinator), arena.cpuSeconds(coordinator)];
    const seconds = (performance.now() - begin) / 1_000;
    return { requests: (more - requests) / seconds, cpu: (later - cpu) / seconds };
  };
  for (let round = 0; round < options.rounds; round++) {
    for (const contender of inTurn(all, round)) {
      say(`idle: ${contender.label}, round ${round + 1} of ${options.rounds}`);
      const without = await window(contender.coordinator);
      const stand = arena.stand(contender);
      const crowds: Player[] = [];
      for (const standing of [1, 2]) {
        const crowd = await Player.start(contender.crowd(stand, options.elections, 'many'));
        crowd.join();
        for (let index = 0; index < options.elections; index++)
          await arena.queueOf(contender, contender.queue(stand.election, index), standing);
        crowds.push(crowd);
      }
      await sleep(options.pauseMs);
      const within = await window(contender.coordinator);
      result.requests.add(contender.name, within.requests - without.requests);
      result.cpu.add(contender.name, within.cpu - without.cpu);
      await Promise.all(crowds.map((crowd) => crowd.kill()));
      // For the sessions of the killed to be over before the next ones are counted.
      await sleep(2 * options.pauseMs);
    }
  }
  return result;
}
