import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { hostname } from 'node:os';
import { openDriver } from './driver.js';
import { listElections } from './election/catalogue.js';
import { Chronicle } from './election/chronicle.js';
import type { Commons } from './election/commons.js';
import { Election } from './election/election.js';
import type { TenureEvents } from './election/events.js';
import { type Candidate, checkHold, type HoldOptions, Holds } from './election/holds.js';
import { type Host, silentLogger } from './election/host.js';
import { electionName, sessionsPath } from './election/names.js';
import type { Driver } from './election/port.js';
import { DEFAULT_NODE_PREFIX } from './election/queue.js';
import { type Removed, removeElection } from './election/removal.js';
import { Stops } from './election/stop.js';
import type { Term } from './election/term.js';
import { orAborted } from './election/waiting.js';
import { ClosedError } from './errors.js';
import { HoldFile } from './hold-file.js';
import { type Cancel, systemClock } from './lease/clock.js';
import { type ConnectionLifeline, connectionLifeline } from './lifeline/connection.js';
import { guarded, logEvent } from './logging.js';
import {
  type ConnectOptions,
  type ElectionOptions,
  type ProbeOptions,
  type ResolvedConnectOptions,
  resolveConnectOptions,
  resolveElectionOptions,
} from './options.js';
import { anyOf } from './signals.js';
import { Telemetry } from './telemetry/telemetry.js';
import type { EnsembleHealth } from './zookeeper/ensemble.js';
import { EnsembleWatch } from './zookeeper/ensemble-watch.js';
import { parseConnectString, type ServerAddress } from './zookeeper/servers.js';
import { Sessions } from './zookeeper/sessions.js';

/** How long `close()` waits for what is still to be written into histories: everybody else goes on meanwhile. */
const CHRONICLE_CLOSE_MS = 500;

/** The events as `EventEmitter` wants them: the name, and what its listeners are called with. */
export type Emitted = { [K in keyof TenureEvents]: [TenureEvents[K]] };

/**
 * A connection to the ensemble: one session at a time, shared by all elections that are made from
 * it, and replaced after each expiry. Made by {@link connect}.
 */
export class Tenure implements AsyncDisposable {
  /** What happens, for telemetry. What a listener throws is logged. */
  readonly events: EventEmitter<Emitted>;
  readonly #sessions: Sessions;
  readonly #commons: Commons;
  readonly #closing: AbortController;
  readonly #watchEnsemble: () => EnsembleWatch | null;
  #ensemble: EnsembleWatch | null = null;
  readonly #telemetry: Telemetry | undefined;
  readonly #lifeline: ConnectionLifeline | null;
  #holdFile: HoldFile | null = null;
  #closed: Promise<void> | null = null;

  /** @internal */
  constructor(
    driver: Driver,
    host: Host,
    events: EventEmitter<Emitted>,
    options: ResolvedConnectOptions,
    chroot: string,
    servers: readonly ServerAddress[] = [],
    telemetry?: Telemetry,
    lifeline: ConnectionLifeline | null = null,
  ) {
    const root = chroot + options.root;
    this.#lifeline = lifeline;
    this.#telemetry = telemetry;
    this.events = events;
    this.#closing = new AbortController();
    this.#sessions = new Sessions(driver, host, { ...options, root, lifeline });
    this.#commons = {
      host,
      root,
      chroot,
      sessionsPath: sessionsPath(root),
      membership: this.#sessions,
      whereabouts: { hostname: hostname(), pid: process.pid },
      closing: this.#closing.signal,
      stops: new Stops(this.#closing.signal),
      standing: new Set<Candidate>(),
      terms: new Set<Term>(),
      working: new Set<Term>(),
      holds: new Holds(),
      chronicle: new Chronicle(host, this.#sessions),
    };
    this.#commons.holds.onChange(() => this.#drainHeld());
    const { probe } = options;
    this.#watchEnsemble = () => (probe === null ? null : this.#watch(host, probe, servers));
    const { terms } = this.#commons;
    telemetry?.read({
      terms: () => terms,
      sessionTimeoutMs: () => this.session?.timeoutMs ?? null,
      monotonic: host.clock.monotonic,
      health: () => this.#ensemble?.health ?? null,
    });
  }

  /** @internal */
  async start(signal?: AbortSignal, holdFile?: string): Promise<void> {
    const { host, holds } = this.#commons;
    try {
      if (holdFile !== undefined) {
        this.#holdFile = new HoldFile(holdFile, holds, host.logger);
        await orAborted(this.#holdFile.watch(), signal);
      }
      await this.#sessions.start(signal);
    } catch (error) {
      this.#holdFile?.close();
      throw error;
    }
    this.#ensemble = this.#watchEnsemble();
  }

  /** The granted session timeout and lease in milliseconds; null between two sessions. */
  get session(): {
    /** 16 lowercase hex digits, as ZooKeeper logs it. */
    readonly id: string;
    /** The session timeout T that was granted. */
    readonly timeoutMs: number;
    /** How long a leader may act after it sent its last confirmed renewal. */
    readonly leaseMs: number;
  } | null {
    const current = this.#sessions.current;
    return current === null
      ? null
      : { id: current.session.id, timeoutMs: current.session.timeoutMs, leaseMs: current.leaseMs };
  }

  /** What the last probe of the ensemble found; null before the first, and without `probeEnsemble`. */
  get ensemble(): EnsembleHealth | null {
    return this.#ensemble?.health ?? null;
  }

  /**
   * An election by its name: one or more segments joined by `/`, such as `settlement` or
   * `payments/tenant-7/shard-3`. Nothing happens until one of its methods is called.
   *
   * @throws {InvalidElectionNameError} {@link InvalidOptionError} {@link CandidateTooLargeError} {@link ClosedError}
   */
  election(name: string, options: ElectionOptions = {}): Election {
    const election = this.onlooker(name, options);
    this.#telemetry?.election(name, election);
    return election;
  }

  /** @internal An election to look at: as {@link election}, but metrics take no notice of it. */
  onlooker(name: string, options: ElectionOptions = {}): Election {
    if (this.#closing.signal.aborted) throw this.#closing.signal.reason;
    electionName(name);
    const { whereabouts } = this.#commons;
    const id = `${whereabouts.hostname}:${whereabouts.pid}:${randomUUID().slice(0, 6)}`;
    const resolved = resolveElectionOptions(options, { id, nodePrefix: DEFAULT_NODE_PREFIX });
    return new Election(this.#commons, name, resolved);
  }

  /**
   * The names of all elections below the root, sorted, whether anybody stands in them or not. Takes a read for each, so it
   * is for looking around, not for a loop.
   *
   * @throws `options.signal.reason` when aborted; {@link ClosedError} after `close()`; {@link CoordinatorError} when no
   *   server answers before the session dies
   */
  async elections(options: { readonly signal?: AbortSignal } = {}): Promise<string[]> {
    const { host, membership, root, closing } = this.#commons;
    const stop = anyOf([options.signal, closing]);
    const { session } = await membership.attach(stop);
    return orAborted(listElections(host, session, root, stop), stop);
  }

  /**
   * Removes an election in which nobody stands, with its record, its floor and its history; where the last term's end was
   * not announced, once its lease is certainly over.
   *
   * @throws {ElectionInUseError} somebody stands in it, or joins meanwhile
   * @throws {UnknownElectionError} {@link InvalidElectionNameError} {@link CoordinatorError};
   *   `options.signal.reason` when aborted; {@link ClosedError} after `close()`
   */
  async remove(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<Removed> {
    const { host, membership, root, closing } = this.#commons;
    electionName(name);
    const stop = anyOf([options.signal, closing]);
    const { session } = await membership.attach(stop);
    const removed = await orAborted(removeElection(host, session, root, name, stop), stop);
    host.logger.info({ election: name, ...removed, floor: `${removed.floor}` }, 'an operator removed the election');
    return removed;
  }

  /**
   * Keeps this process from leading any election, without a word to the ensemble: leaders drain at once, candidates leave
   * their queues and join again when all holds are released. The option `holdFile` does the same for as long as a file
   * exists.
   *
   * @returns how to release it
   * @throws {InvalidOptionError}
   */
  hold(options: HoldOptions): Cancel {
    const reason = checkHold(options);
    const release = this.#commons.holds.hold(null, reason);
    this.#commons.host.logger.warn({ reason }, 'held: this process leads nothing until it is released');
    return release;
  }

  /** Why this process is kept from leading any election, or null. */
  get held(): string | null {
    return this.#commons.holds.reason(null);
  }

  /**
   * Gives up all terms, ends all campaigns and observers, then the session. Workers of `lead` drain first; a term
   * held by hand goes at once and unannounced, so that its successor is patient: `resign()` it before. Never
   * rejects; idempotent. Afterwards nothing of ours keeps the process alive.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** `await using tenure = …`: closes at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Asks all servers of the ensemble; what is found is logged when it changes. */
  #watch(host: Host, options: Required<ProbeOptions>, servers: readonly ServerAddress[]): EnsembleWatch {
    let last = '';
    return new EnsembleWatch({
      ...options,
      servers,
      readConfig: async (path) => {
        const { session } = await this.#sessions.attach();
        return (await session.read(path))?.data ?? null;
      },
      onHealth: ({ findings, quorumOk }) => {
        const now = JSON.stringify([quorumOk, findings]);
        if (now === last) return;
        if (!quorumOk || findings.length > 0) host.logger.warn({ quorumOk, findings }, 'the ensemble is not all well');
        else if (last !== '') host.logger.info({ quorumOk }, 'the ensemble is well again');
        last = now;
      },
    });
  }

  #drainHeld(): void {
    const { holds, standing, terms } = this.#commons;
    for (const each of [...standing]) if (holds.reason(each.election) !== null) each.leave();
    for (const term of [...terms]) if (holds.reason(term.election) !== null) term.drain('held');
  }

  async #close(): Promise<void> {
    this.#holdFile?.close();
    const terms = [...this.#commons.terms];
    for (const term of terms) {
      term.drain('closed');
      // Held by hand: nobody will say when its work has stopped, so it goes at once and unannounced.
      if (!this.#commons.working.has(term)) term.abandon();
    }
    this.#closing.abort(new ClosedError('this connection has been closed: make a new one with connect()'));
    await Promise.all(terms.map((term) => term.released));
    this.#ensemble?.stop();
    await this.#commons.chronicle.close(CHRONICLE_CLOSE_MS);
    await this.#sessions.close();
    this.#lifeline?.release();
    this.#telemetry?.close();
  }
}

/**
 * Connects to the ensemble and opens a session.
 *
 * @throws {InvalidOptionError} {@link NameResolutionError} {@link ConnectTimeoutError} {@link AuthenticationError}
 *   {@link UntrustedError} {@link DriverUnavailableError}; `options.signal.reason` when aborted
 */
export async function connect(options: ConnectOptions): Promise<Tenure> {
  const resolved = resolveConnectOptions(options);
  const { servers, chroot } = parseConnectString(resolved.servers);
  const { sessionTimeoutMs, connectTimeoutMs, auth, choice } = resolved;
  const { meterProvider, tracerProvider, metrics } = options;
  const telemetry = new Telemetry({ ...metrics, meterProvider, tracerProvider });
  const { host, events } = processHost(options, telemetry);
  const onWarning = (message: string) => host.logger.warn({}, message);
  // Before the driver opens a connection, which a process that is started later may inherit.
  const lifeline =
    options.lifeline === false ? null : connectionLifeline({ servers, auth, tls: choice.tls }, onWarning);
  try {
    const reach = { servers, sessionTimeoutMs, connectTimeoutMs, auth, onWarning };
    const driver = await openDriver(choice, reach, host.logger);
    const tenure = new Tenure(driver, host, events, resolved, chroot, servers, telemetry, lifeline);
    await tenure.start(options.signal, options.holdFile);
    return tenure;
  } catch (error) {
    lifeline?.release();
    throw error;
  }
}

function processHost(options: ConnectOptions, telemetry: Telemetry): { host: Host; events: EventEmitter<Emitted> } {
  const logger = options.logger === undefined ? silentLogger : guarded(options.logger);
  const events = new EventEmitter<Emitted>();
  const host: Host = {
    clock: systemClock,
    random: Math.random,
    uuid: randomUUID,
    logger,
    emit: (name, event) => {
      try {
        telemetry.on(name, event);
      } catch (error) {
        // A provider that was injected is not ours to trust in the middle of the protocol.
        logger.error({ event: name, err: error }, 'telemetry threw');
      }
      if (logger !== silentLogger) logEvent(logger, name, event, telemetry.traceOf(event));
      try {
        (events as EventEmitter).emit(name, event);
      } catch (error) {
        // Called in the middle of the protocol: a listener's mistake must not become the election's.
        logger.error({ event: name, err: error }, 'a listener of tenure.events threw');
      }
    },
  };
  return { host, events };
}
