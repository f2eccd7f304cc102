import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a worker is told by its environment. How to reach PostgreSQL it reads from PGHOST and its like, as every client does. */
export interface WorkerSettings {
  /** Its candidates' id, and `instance` of its metrics. */
  readonly name: string;
  readonly pagesHost: string;
  readonly pagesPort: number;
  readonly servers: string;
  readonly sessionTimeoutMs: number;
  readonly probeMs: number;
  /** Undefined: PGPASSWORD, or none. */
  readonly password: (() => string) | undefined;
}

/** @throws an Error that names the variable */
export function settingsFrom(env: Environment): WorkerSettings {
  const servers = env['ZK_SERVERS'];
  if (!servers) throw new Error('ZK_SERVERS is not set: give the ensemble, as host:port,host:port/chroot');
  const passwordFile = env['PGPASSWORD_FILE'];
  return {
    name: env['WORKER_NAME'] || hostname(),
    pagesHost: env['PAGES_HOST'] || '127.0.0.1',
    pagesPort: numberFrom(env, 'PAGES_PORT', 9464),
    servers,
    sessionTimeoutMs: numberFrom(env, 'SESSION_TIMEOUT_MS', 10_000),
    probeMs: numberFrom(env, 'PROBE_MS', 5_000),
    // Read for each connection: a password that was changed on disk needs no restart.
    password: passwordFile ? () => readFileSync(passwordFile, 'utf8').trimEnd() : undefined,
  };
}

function numberFrom(env: Environment, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value <= 0) throw new Error(`${name} is "${text}": give a whole number above 0`);
  return value;
}
