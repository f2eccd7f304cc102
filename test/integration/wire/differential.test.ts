import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';
import type { CreateMode, Session, Stat } from '../../../src/election/port.js';
import { CoordinatorError } from '../../../src/errors.js';
import { Random } from '../../../src/verify/random.js';
import { nativeDriver } from '../../../src/zookeeper/native/driver.js';
import { parseConnectString } from '../../../src/zookeeper/servers.js';
import { wireDriver } from '../../../src/zookeeper/wire/driver.js';

/** TENURE_DIFFERENTIAL_RUNS for the long form. */
const RUNS = Number(process.env['TENURE_DIFFERENTIAL_RUNS'] ?? 25);
const STEPS = 40;

let ensemble: Ensemble;
const drivers = new Map<string, { session: Session; hand: Session }>();

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  const { servers } = parseConnectString(ensemble.connectString);
  const options = { servers, sessionTimeoutMs: 10_000, connectTimeoutMs: 10_000 };
  for (const driver of [await nativeDriver(options), wireDriver(options)]) {
    drivers.set(driver.name, { session: await driver.open(), hand: await driver.open() });
  }
});

afterAll(async () => {
  for (const { session, hand } of drivers.values()) await Promise.all([session.close(), hand.close()]);
  await ensemble?.close();
});

type Who = 'session' | 'hand';

/** One thing that is done, the same for both drivers; paths are below the run's root. */
type Step =
  | {
      readonly do: 'create';
      readonly who: Who;
      readonly path: string;
      readonly mode: CreateMode;
      readonly size: number;
    }
  | { readonly do: 'remove' | 'write'; readonly who: Who; readonly path: string; readonly version: number }
  | { readonly do: 'read' | 'stat' | 'children'; readonly who: Who; readonly path: string; readonly watch: boolean }
  | { readonly do: 'sync'; readonly who: Who; readonly path: string };

const PATHS = ['/a', '/b', '/a/a', '/a/b', '/b/a', '/a/a/a', '/a/../b', '/a/', '', '/ü'];
const MODES: readonly CreateMode[] = ['persistent', 'ephemeral', 'ephemeral_sequential'];

function step(random: Random): Step {
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)] as T;
  const who = random.chance(0.7) ? 'session' : 'hand';
  const path = pick(PATHS);
  switch (random.below(8)) {
    case 0:
    case 1:
      return { do: 'create', who, path, mode: pick(MODES), size: pick([0, 1, 100, 1_040_000, 2_000_000]) };
    case 2:
      return { do: 'remove', who, path, version: pick([-1, -1, 0, 1, -2, 1.5]) };
    case 3:
      return { do: 'write', who, path, version: pick([-1, -1, 0, 1, 2 ** 31]) };
    case 4:
      return { do: 'sync', who, path };
    default:
      return { do: pick(['read', 'stat', 'children']), who, path, watch: random.chance(0.6) };
  }
}

function act(session: Session, root: string, what: Step): Promise<unknown> {
  const path = what.path === '' ? '' : root + what.path;
  switch (what.do) {
    case 'create':
      return session.create(path, Buffer.alloc(what.size, 'x'), what.mode);
    case 'remove':
      return session.remove(path, what.version);
    case 'write':
      return session.write(path, Buffer.from(`${what.version}`), what.version);
    case 'sync':
      return session.sync(path);
    default:
      return session[what.do](path, { watch: what.watch });
  }
}

/** A run of steps by one driver: everything that was answered or announced, in order, freed of what must differ. */
async function run(name: string, root: string, batches: readonly (readonly Step[])[]): Promise<string[]> {
  const seats = drivers.get(name);
  if (seats === undefined) throw new Error(name);
  const log: string[] = [];
  const owners = new Map([
    [seats.session.id, 'session'],
    [seats.hand.id, 'hand'],
  ]);
  const base = (await seats.hand.stat('/'))?.mzxid ?? 0n;
  const shown = (value: unknown): string =>
    JSON.stringify(value, (key, part) => {
      if (key === 'owner') return part === null ? null : owners.get(part);
      // Whose turn it was when differs: what can be compared is whether the node has changed since it was made.
      if (key === 'stat' || (part !== null && typeof part === 'object' && 'czxid' in part)) return freed(part as Stat);
      if (part?.type === 'Buffer') return `${part.data.length} bytes`;
      return typeof part === 'string' ? part.replaceAll(root, '') : part;
    }) ?? 'nothing';
  const freed = ({ czxid, mzxid, owner, version, cversion, children }: Stat) =>
    `${czxid > base} ${mzxid === czxid} ${owner === null ? null : owners.get(owner)} ${version} ${cversion} ${children}`;
  const cancels = PATHS.filter((path) => path !== '').map((path) =>
    seats.session.onNode(root + path, (change) => log.push(`event: ${change} ${path}`)),
  );
  for (const batch of batches) {
    await Promise.all(
      batch.map(async (what) => {
        const title = `${what.who} ${what.do} ${what.path}`;
        // What two sessions answer comes in no order.
        const into = what.who === 'session' ? log : [];
        await act(seats[what.who], root, what).then(
          (value) => into.push(`${title}: ${shown(value)}`),
          (error: unknown) => {
            if (!(error instanceof CoordinatorError)) throw error;
            const { kind, operation, maybeApplied, retriable } = error;
            into.push(`${title}: ${kind} ${operation} ${shown(error.path)} ${maybeApplied} ${retriable}`);
          },
        );
      }),
    );
    // By its reply, everything that was committed before has been announced.
    await seats.session.write(root, Buffer.from(''), -1);
  }
  for (const cancel of cancels) cancel();
  return log;
}

/** Batches of one session's calls, pipelined: what two sessions do at once has no order that could be compared. */
function batchesOf(random: Random): Step[][] {
  const batches: Step[][] = [];
  for (let i = 0; i < STEPS; i++) {
    const next = step(random);
    const last = batches.at(-1);
    if (last !== undefined && last[0]?.who === next.who && random.chance(0.6)) last.push(next);
    else batches.push([next]);
  }
  return batches;
}

async function removeAll(session: Session, path: string): Promise<void> {
  for (const child of (await session.children(path))?.names ?? []) await removeAll(session, `${path}/${child}`);
  await session.remove(path);
}

describe('the same calls, by both drivers', () => {
  it.each(Array.from({ length: RUNS }, (_, seed) => seed))(
    'with seed %i: the same answers and events, in the same order',
    async (seed) => {
      const batches = batchesOf(new Random(seed * 7 + 1));
      const logs: string[][] = [];
      for (const name of drivers.keys()) {
        const root = `/${name}-${seed}`;
        const hand = drivers.get(name)?.hand as Session;
        await hand.create(root, Buffer.from(''), 'persistent');
        logs.push(await run(name, root, batches));
        await removeAll(hand, root);
      }
      const [native, wire] = logs;
      expect(wire).toEqual(native);
      expect(wire?.length).toBeGreaterThan(10);
    },
  );
});
