import type { Ensemble, ZooKeeperServer } from '../deploy/local/index.js';
import { openDriver } from '../src/driver.js';
import type { Session } from '../src/election/port.js';
import { connect, type Election, type Term } from '../src/index.js';
import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import { parseConnectString } from '../src/zookeeper/servers.js';

export type DriverName = 'native' | 'wire';

/** Milliseconds, one sample for each turn. */
export interface HandOvers {
  /** From the call of `resign()` to the successor's term. */
  readonly handOver: readonly number[];
  /** A delete, until its committing is confirmed. */
  readonly committed: readonly number[];
  /** A delete, from its sending until another client is told of it: the commit and the notification. */
  readonly told: readonly number[];
  readonly read: readonly number[];
  /** A compare-and-set. */
  readonly write: readonly number[];
}

/** What no hand-over can do without, in each turn: one node goes, the next one is told of it, reads the record, and writes its claim. */
export function sums({ told, read, write }: HandOvers): readonly number[] {
  return told.map((first, turn) => first + (read[turn] ?? Number.NaN) + (write[turn] ?? Number.NaN));
}

/** About what a term record takes. */
const CONTENT = Buffer.alloc(480, 'x');
/**
 * Before each of what is measured, as what begins from rest takes longer. The history of the hand-over before, a quarter of a second
 * behind it, is written in between.
 */
const REST_MS = 150;
const WARM_UP = 20;

/** Two sessions without any election, one on each of the servers on which the candidates are. */
class RawParts implements AsyncDisposable {
  readonly #sessions: readonly Session[];
  readonly #root: string;

  private constructor(sessions: readonly Session[], root: string) {
    this.#sessions = sessions;
    this.#root = root;
  }

  static async open(driver: DriverName, servers: readonly ZooKeeperServer[]): Promise<RawParts> {
    const sessions = await Promise.all(
      servers.map(async ({ address }) => {
        const options = { sessionTimeoutMs: 10_000, connectTimeoutMs: 20_000 };
        const choice = { driver, tls: undefined, acl: undefined };
        return (await openDriver(choice, { servers: parseConnectString(address).servers, ...options }, console)).open();
      }),
    );
    const root = `/raw-parts-${driver}`;
    await sessions[0]?.create(root, CONTENT, 'persistent');
    return new RawParts(sessions, root);
  }

  /** One of each part: `leaver` deletes, the other one is told, reads and writes. */
  async measure(leaver: 0 | 1): Promise<Record<'committed' | 'told' | 'read' | 'write', number>> {
    const [leaves, follows] = [this.#sessions[leaver], this.#sessions[1 - leaver]];
    if (leaves === undefined || follows === undefined) throw new Error('two sessions are needed');
    const node = await leaves.create(`${this.#root}/c-`, CONTENT, 'ephemeral_sequential');
    await follows.sync('/');
    if ((await follows.read(node, { watch: true })) === null) throw new Error(`${node} is gone already`);
    const news = new Promise<number>((resolve) => {
      const cancel = follows.onNode(node, () => {
        cancel();
        resolve(monotonicMs());
      });
    });
    // From rest, as a hand-over begins.
    await sleep(REST_MS);
    const begin = monotonicMs();
    await leaves.remove(node);
    const committed = monotonicMs() - begin;
    const told = (await news) - begin;
    const beforeRead = monotonicMs();
    const found = await follows.read(this.#root, { watch: true });
    const beforeWrite = monotonicMs();
    await follows.write(this.#root, CONTENT, found?.stat.version ?? -1);
    return { committed, told, read: beforeWrite - beforeRead, write: monotonicMs() - beforeWrite };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close()));
  }
}

/** Leaders resign in turn, each to the other of two connections; between any two of these, the parts are measured raw. */
export async function handOvers(ensemble: Ensemble, driver: DriverName, times: number): Promise<HandOvers> {
  const servers = ensemble.servers.slice(0, 2);
  await using raw = await RawParts.open(driver, servers);
  const tenures = await Promise.all(servers.map(({ address }) => connect({ servers: address, driver })));
  const elections = tenures.map((tenure) => tenure.election(`hand-overs-${driver}`)) as [Election, Election];
  const samples = { handOver: [], committed: [], told: [], read: [], write: [] } as Record<keyof HandOvers, number[]>;
  let leader: Term = await elections[0].campaign();
  for (let turn = 0; turn < WARM_UP + times; turn++) {
    const leaver = turn % 2 === 0 ? 0 : 1;
    const next = elections[1 - leaver]?.campaign() as Promise<Term>;
    await sleep(REST_MS);
    const parts = await raw.measure(leaver);
    await sleep(REST_MS);
    const begin = monotonicMs();
    const led = next.then((term) => ({ term, handOver: monotonicMs() - begin }));
    const [{ term, handOver }] = await Promise.all([led, leader.resign()]);
    leader = term;
    if (turn < WARM_UP) continue;
    for (const [name, sample] of Object.entries({ handOver, ...parts })) samples[name as keyof HandOvers].push(sample);
  }
  await leader.resign();
  await Promise.all(tenures.map((tenure) => tenure.close()));
  return samples;
}
