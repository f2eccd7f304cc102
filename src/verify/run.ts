import { orAborted } from '../election/waiting.js';
import { parseConnectString } from '../zookeeper/servers.js';
import { FAULTS, needsLines } from './faults.js';
import { Fleet, type FleetOptions } from './fleet.js';
import type { History } from './history.js';
import { monotonicMs, sleep, until } from './monotonic.js';
import { watchQuorum } from './quorum.js';
import { Random } from './random.js';
import { QUORUM_UNKNOWN } from './report.js';
import { Torment } from './torment.js';

/** How many faults at once, at most. */
const AT_ONCE = 3;

/** What a busy machine may add to a failover. */
const SLACK_MS = 2_500;

/** For a process to start, on a machine that is busy. */
const START_MS = 30_000;

export interface RunOptions extends FleetOptions {
  readonly forMs: number;
  readonly seed: number;
  /** Only these faults; all that are possible where left out. */
  readonly only?: readonly string[];
  readonly tickTimeMs: number;
  readonly signal: AbortSignal;
  /** Told how it goes, a line at a time. */
  readonly tell: (line: string) => void;
}

export interface Run {
  readonly history: History;
  /** Whether the root is gone from the ensemble. */
  readonly removed: boolean;
}

/** The workers could not do what they were to be disturbed at. */
export class NotStartedError extends Error {
  override readonly name = 'NotStartedError';
}

/**
 * Torments workers of our own at somebody's ensemble, and writes down what happened. Nothing is done to the ensemble but what clients do, below one
 * root that is removed in the end, however it ends.
 *
 * @throws {NotStartedError}, what `connect()` throws; `signal.reason` when aborted
 */
export async function runOn(options: RunOptions): Promise<Run> {
  const { signal, tell, connect } = options;
  const fleet = await Fleet.open(options, signal);
  let watch: { stop(): Promise<void> } | null = null;
  let removed = false;
  let history: History;
  try {
    const { servers } = parseConnectString(connect.servers);
    watch = connect.tls === undefined ? await watchQuorum(servers, fleet.hands, fleet.happenings) : null;
    if (watch === null) tell(QUORUM_UNKNOWN);
    history = await run(fleet, options, watch !== null);
  } finally {
    await watch?.stop();
    removed = await fleet.close();
    if (!removed) tell(`${fleet.root} could not be removed: do it by hand, with deleteall of zkCli.sh`);
  }
  return { history, removed };
}

/** What there is to do in a run with these options. */
export function possibleFaults(lines: boolean, only: readonly string[] = Object.keys(FAULTS)): string[] {
  return only.filter((fault) => fault in FAULTS && (lines || !needsLines(fault)));
}

async function run(fleet: Fleet, options: RunOptions, quorumKnown: boolean): Promise<History> {
  const { forMs, seed, signal, tell, tickTimeMs, connect } = options;
  const { sessionTimeoutMs } = fleet;
  for (const seat of fleet.seats) fleet.start(seat);
  const led = (): boolean => fleet.leader !== undefined;
  if (!(await fleet.everybodyReady(START_MS + 2 * sessionTimeoutMs, signal)) || !(await until(led, START_MS, signal))) {
    signal.throwIfAborted();
    const ready = fleet.awake.map(({ name }) => name).join(', ') || 'none';
    throw new NotStartedError(
      `of ${fleet.seats.length} workers these were ready: ${ready}; led by ${fleet.leader?.name ?? 'none'}`,
    );
  }

  const beginAt = monotonicMs();
  tell(`${fleet.seats.length} workers run; faults for ${seconds(forMs)}, seed ${seed}`);
  const names = possibleFaults(connect.tls === undefined, options.only);
  const faults = Object.fromEntries(names.map((name) => [name, FAULTS[name]])) as typeof FAULTS;
  const torment = new Torment(fleet, faults, { random: new Random(seed), forMs, atOnce: AT_ONCE, signal });
  await orAborted(torment.run(), signal);

  const calmAt = monotonicMs();
  tell(`no more faults; ${seconds(3 * sessionTimeoutMs)} to settle`);
  await fleet.everybodyReady(START_MS + 2 * sessionTimeoutMs, signal);
  // What the last fault has begun is over by then: a session that has to expire, a patience, a rejoining.
  await sleep(3 * sessionTimeoutMs, signal);
  signal.throwIfAborted();
  const settled = await fleet.aftermath();
  const endAt = monotonicMs();
  const left = await fleet.stop(START_MS + sessionTimeoutMs, signal);
  signal.throwIfAborted();
  const { book, ledger } = fleet;
  return {
    version: 1,
    seed,
    settings: {
      sessionTimeoutMs,
      tickTimeMs,
      leaseMs: connect.leaseMs ?? (sessionTimeoutMs * 2) / 3,
      slackMs: SLACK_MS,
      quorumKnown,
    },
    beginAt,
    calmAt,
    endAt,
    happenings: [...book.happenings].sort((a, b) => a.at - b.at),
    acts: book.acts,
    writes: await ledger.writes(),
    acknowledged: book.acknowledged,
    batches: await ledger.batches(book.done),
    counters: book.counters,
    aftermath: { ...settled, left },
  };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
