import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { type DriverChoice, type DriverOptions, driverChoice } from './driver.js';
import type { Metadata } from './election/candidate.js';
import { abortSignal, checkKeys, duration, oneOf, shown } from './election/checks.js';
import type { ElectionSettings } from './election/election.js';
import type { Logger } from './election/host.js';
import { KAZOO_NODE_PREFIX } from './election/queue.js';
import { InvalidOptionError } from './errors.js';
import { LEASE_SHARE_MAX } from './lease/lease.js';
import type { ElectionLabelOptions } from './telemetry/labels.js';

/** Options of {@link connect}. Durations are milliseconds. */
export interface ConnectOptions extends DriverOptions {
  /**
   * The ensemble: `host:port` of its servers, separated by commas (port 2181 where left out), then an
   * optional chroot, as in `zk1:2181,zk2:2181,zk3:2181/prod`. Names are resolved again for each session.
   */
  readonly servers: string;
  /**
   * The session timeout T to ask for. The ensemble grants it within its own bounds (by default 2 to 20
   * of its ticks, 4 to 40 s): the granted value is used, and logged where it differs. After an
   * unannounced death the successor leads within about T. Shorter fails over sooner, and more often
   * for no reason: T must outlast the pauses of your processes and the ensemble's own elections.
   * Default 10,000.
   */
  readonly sessionTimeoutMs?: number;
  /**
   * How long a leader may act after it *sent* its last confirmed renewal. At most 0.9 T; a successor
   * waits it out where nobody announced the end, which costs nothing while it stays below T.
   * Default: two thirds of the granted T.
   */
  readonly leaseMs?: number;
  /** How long `connect()` may take to get a session, name resolution included. Default 15,000. */
  readonly connectTimeoutMs?: number;
  /** Where everything lies, below the chroot; created if absent. Default `/tenure`. */
  readonly root?: string;
  /** Presented to the ensemble, for its ACLs: `{ scheme: 'digest', credential: 'user:password' }`. Default none. */
  readonly auth?: readonly {
    /** Of ZooKeeper's: `digest`, or one that a plugin brings. */
    readonly scheme: string;
    /** What the scheme asks for. Never logged. */
    readonly credential: string;
  }[];
  /** How late the event loop may be before a leader turns suspect. Default: a tenth of T, at least 200. */
  readonly pauseThresholdMs?: number;
  /** How far the wall or boot clock may move against the monotonic one before a leader turns suspect. Default 1,000. */
  readonly clockJumpThresholdMs?: number;
  /** Gets what happens: pino, or anything with its four methods `(fields, message)`. Default: nothing is logged. */
  readonly logger?: Logger;
  /**
   * Where metrics go: a provider of OpenTelemetry's API. Default: the one that is registered globally when an election
   * is made or campaigns; without one nothing is measured, at next to no cost. docs/metrics.md lists the instruments.
   */
  readonly meterProvider?: MeterProvider;
  /** Where spans go. Default: the tracer provider that is registered globally. */
  readonly tracerProvider?: TracerProvider;
  /** Which elections have a label of their own in metrics. Default: all, up to 10,000. */
  readonly metrics?: ElectionLabelOptions;
  /**
   * Asks each server of the ensemble how it does, over plain TCP by ZooKeeper's words `srvr` and `mntr`, and shows that in
   * metrics. `true` takes the defaults: every 10,000 ms, each server given 2,000 ms to answer. One process or two of a
   * fleet are enough. Default false.
   */
  readonly probeEnsemble?: boolean | ProbeOptions;
  /**
   * Starts a small helper process that ends this one's session as soon as it dies, however it dies: its leaderships then
   * pass on within milliseconds, instead of after T. It is shared by all connections of the process, and never acts while
   * the process lives. Switch it off where work goes on after the process's death, as in its child processes.
   * Default true; without effect on Windows.
   */
  readonly lifeline?: boolean;
  /**
   * While a file by this name exists, this process leads nothing: leaders drain at once, candidates leave their queues,
   * and all join again when it is gone. Looked at four times a second; needs no ZooKeeper. Its first line is the reason.
   * Default none.
   */
  readonly holdFile?: string;
  /** Gives up connecting. */
  readonly signal?: AbortSignal;
}

/** How the ensemble is probed. Durations are milliseconds. */
export interface ProbeOptions {
  /** From the end of one probe to the start of the next. Default 10,000. */
  readonly intervalMs?: number;
  /** For each question to each server. Default 2,000. */
  readonly timeoutMs?: number;
}

/** Options of {@link Tenure.election}. Durations are milliseconds. */
export interface ElectionOptions {
  /** What this candidate is called in the record, in views and in logs. Default `hostname:pid:random`. */
  readonly id?: string;
  /** Shown to observers, never interpreted. With the id at most 8 KiB of JSON. Default `{}`. */
  readonly metadata?: Metadata;
  /**
   * How long a worker may take to finish after its signal was aborted because the leadership is given
   * up (resigned, paused, transferred, closed); the lease is renewed meanwhile. Past it the
   * node goes without an announcement, so that the successor is patient. Default 30,000.
   */
  readonly drainTimeoutMs?: number;
  /**
   * Waited by a new leader on top of patience after an *unannounced* end: for resources that can't check
   * tokens, time for the old leader's last effects to arrive. It bounds nothing for a process that is
   * paused for longer. Default 0.
   */
  readonly takeoverDelayMs?: number;
  /** An existing queue to stand in, as a path below the chroot, instead of our own. */
  readonly queuePath?: string;
  /**
   * What stands between uuid and sequence number in our node's name: all in one queue must use the same. `latch-` joins a fleet
   * of Curator's LeaderLatch, `__lock__` one of kazoo under its own node name. Default `lock-`.
   */
  readonly nodePrefix?: string;
}

export interface ResolvedConnectOptions
  extends Omit<
    Required<ConnectOptions>,
    | keyof DriverOptions
    | 'leaseMs'
    | 'pauseThresholdMs'
    | 'signal'
    | 'logger'
    | 'meterProvider'
    | 'tracerProvider'
    | 'metrics'
    | 'probeEnsemble'
    | 'lifeline'
    | 'holdFile'
  > {
  readonly choice: DriverChoice;
  /** Null: not at all. */
  readonly probe: Required<ProbeOptions> | null;
  readonly leaseMs: number | undefined;
  readonly pauseThresholdMs: number | undefined;
}

/** Checks and completes the options. @throws {InvalidOptionError} naming the option, its value and the fix */
export function resolveConnectOptions(options: ConnectOptions): ResolvedConnectOptions {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(
      'options',
      `connect: options are required, as in connect({ servers: 'zk1:2181' }), not ${shown(options)}`,
    );
  }
  checkKeys('connect', options, CONNECT_KEYS);
  abortSignal('signal', options.signal);
  checkLogger(options.logger);
  oneOf('lifeline', options.lifeline, [true, false]);
  if (options.holdFile !== undefined && (typeof options.holdFile !== 'string' || options.holdFile === '')) {
    throw new InvalidOptionError('holdFile', `holdFile ${shown(options.holdFile)} must be the path of a file`);
  }
  checkKeys('metrics', options.metrics ?? {}, METRICS_KEYS);
  const sessionTimeoutMs = duration('sessionTimeoutMs', options.sessionTimeoutMs, 10_000, 100);
  const leaseMs = options.leaseMs === undefined ? undefined : duration('leaseMs', options.leaseMs, 0, 50);
  const longest = Math.floor(sessionTimeoutMs * LEASE_SHARE_MAX);
  if (leaseMs !== undefined && leaseMs > longest) {
    throw new InvalidOptionError(
      'leaseMs',
      `leaseMs ${leaseMs} is more than ${LEASE_SHARE_MAX} of sessionTimeoutMs ${sessionTimeoutMs}: ` +
        `lower it to ${longest}, or raise the session timeout`,
    );
  }
  const pauseThresholdMs =
    options.pauseThresholdMs === undefined ? undefined : duration('pauseThresholdMs', options.pauseThresholdMs, 0, 10);
  return {
    servers: options.servers,
    sessionTimeoutMs,
    leaseMs,
    connectTimeoutMs: duration('connectTimeoutMs', options.connectTimeoutMs, 15_000, 1),
    root: path('root', options.root ?? '/tenure'),
    auth: credentials(options.auth ?? []),
    pauseThresholdMs,
    clockJumpThresholdMs: duration('clockJumpThresholdMs', options.clockJumpThresholdMs, 1_000, 20),
    probe: probe(options.probeEnsemble ?? false),
    choice: driverChoice(options),
  };
}

/** Checks and completes the options of an election. @throws {InvalidOptionError} */
export function resolveElectionOptions(
  options: ElectionOptions,
  defaults: { id: string; nodePrefix: string },
): ElectionSettings {
  checkKeys('election', options, ELECTION_KEYS);
  const id = options.id ?? defaults.id;
  if (typeof id !== 'string' || id === '') {
    throw new InvalidOptionError('id', `id ${JSON.stringify(id)} must be text that isn't empty`);
  }
  const metadata = options.metadata ?? NONE;
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw new InvalidOptionError(
      'metadata',
      `metadata ${JSON.stringify(metadata)} must be an object, as in { zone: 'a' }`,
    );
  }
  const nodePrefix = options.nodePrefix ?? defaults.nodePrefix;
  if (!/^[a-z][a-z0-9]*-$/i.test(nodePrefix) && nodePrefix !== KAZOO_NODE_PREFIX) {
    throw new InvalidOptionError(
      'nodePrefix',
      `nodePrefix ${JSON.stringify(nodePrefix)} must be letters and digits, then '-'; or ${KAZOO_NODE_PREFIX}`,
    );
  }
  return {
    id,
    metadata,
    drainTimeoutMs: duration('drainTimeoutMs', options.drainTimeoutMs, 30_000, 0),
    takeoverDelayMs: duration('takeoverDelayMs', options.takeoverDelayMs, 0, 0),
    queuePath: options.queuePath === undefined ? undefined : path('queuePath', options.queuePath),
    nodePrefix,
  };
}

const NONE: Metadata = Object.freeze({});

const CONNECT_KEYS = [
  'servers',
  'sessionTimeoutMs',
  'leaseMs',
  'connectTimeoutMs',
  'root',
  'auth',
  'pauseThresholdMs',
  'clockJumpThresholdMs',
  'logger',
  'meterProvider',
  'tracerProvider',
  'metrics',
  'probeEnsemble',
  'lifeline',
  'driver',
  'tls',
  'acl',
  'holdFile',
  'signal',
] as const satisfies (keyof ConnectOptions)[];

const PROBE_KEYS = ['intervalMs', 'timeoutMs'] as const satisfies (keyof ProbeOptions)[];

const METRICS_KEYS = [
  'elections',
  'maxElections',
  'maxElectionsInHistograms',
] as const satisfies (keyof ElectionLabelOptions)[];

const ELECTION_KEYS = [
  'id',
  'metadata',
  'drainTimeoutMs',
  'takeoverDelayMs',
  'queuePath',
  'nodePrefix',
] as const satisfies (keyof ElectionOptions)[];

function probe(value: boolean | ProbeOptions): Required<ProbeOptions> | null {
  if (value === false) return null;
  const options = value === true ? {} : value;
  checkKeys('probeEnsemble', options, PROBE_KEYS);
  return {
    intervalMs: duration('probeEnsemble.intervalMs', options.intervalMs, 10_000, 100),
    timeoutMs: duration('probeEnsemble.timeoutMs', options.timeoutMs, 2_000, 10),
  };
}

function path(option: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (typeof value === 'string' && /^(\/[^/\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]+)+$/.test(value)) {
    if (!value.split('/').some((segment) => segment === '.' || segment === '..')) return value;
  }
  throw new InvalidOptionError(
    option,
    `${option} ${JSON.stringify(value)} must be an absolute path such as "/tenure": segments that aren't empty, '.' or '..', no slash at the end`,
  );
}

function credentials(auth: NonNullable<ConnectOptions['auth']>): NonNullable<ConnectOptions['auth']> {
  const form = "auth must be a list of { scheme: 'digest', credential: 'user:password' }";
  // What was given may be a secret: it is never shown, but for the names of keys.
  if (!Array.isArray(auth)) throw new InvalidOptionError('auth', `${form}, in brackets`);
  for (const entry of auth) {
    if (typeof entry !== 'object' || entry === null) throw new InvalidOptionError('auth', `${form}: each is an object`);
    checkKeys('auth', entry, ['scheme', 'credential']);
    if (typeof entry.scheme !== 'string' || entry.scheme === '' || typeof entry.credential !== 'string') {
      throw new InvalidOptionError('auth', `${form}: both are text`);
    }
  }
  return auth;
}

function checkLogger(logger: Logger | undefined): void {
  if (logger === undefined) return;
  for (const method of ['debug', 'info', 'warn', 'error'] as const) {
    if (typeof logger?.[method] === 'function') continue;
    throw new InvalidOptionError(
      'logger',
      `logger has no method ${method}(fields, message): pass one like pino's, with debug, info, warn and error`,
    );
  }
}
