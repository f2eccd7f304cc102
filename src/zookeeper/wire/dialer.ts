import type { ConnectionOptions } from 'node:tls';
import { type Backoff, backoffMs } from '../../lease/backoff.js';
import { type ResolvedAddress, resolveServers } from '../resolve.js';
import { formatServer } from '../servers.js';
import type { WireDriverOptions } from './options.js';
import { expectedPeer, isDistrust, readTls } from './tls.js';

/**
 * Between two rounds in which no server took us. Short while our session may live: the ensemble may be electing a leader, and
 * its servers take us as soon as it has one. Longer afterwards: thousands of us may be knocking.
 */
const BACKOFF_ALIVE: Backoff = { baseMs: 20, capMs: 100 };
const BACKOFF_LATER: Backoff = { baseMs: 100, capMs: 2_000 };

/** No server is given less than this to grant a session, in milliseconds. */
const LEAST_DEADLINE_MS = 300;

/** What a resolver is given when the addresses from before are at hand, in milliseconds; longer in each round. */
const RESOLVE_MS = 250;

/** Where to try next, and how. */
export interface Target {
  readonly address: ResolvedAddress;
  readonly tls: ConnectionOptions | null;
  readonly deadlineMs: number;
}

interface Search {
  /** How it ended: null when we were taken. */
  readonly attempt: (target: Target) => Promise<Error | null>;
  /** The server that we were on: tried last. */
  readonly avoid: string | null;
  /** Connections in a row on which a server took us, and then answered nothing. */
  readonly fruitless: number;
  /** Called after each round in vain, with whether all servers failed for want of trust. */
  readonly roundFailed: (distrust: boolean) => void;
}

/**
 * Finds a server that takes us: all addresses of all names, in random order and resolved again for each round; one that
 * fails leads to the next at once, a whole round to a pause.
 */
export class Dialer {
  readonly #options: WireDriverOptions;
  readonly #signal: AbortSignal;
  #known: readonly ResolvedAddress[] = [];
  #fresh = false;
  /** What became of each address when it was last tried. */
  readonly failures = new Map<string, Error>();

  constructor(options: WireDriverOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Resolves the names for the first time. @throws {NameResolutionError}, or the signal's reason */
  async resolve(): Promise<void> {
    // Half of the time at most, so that a resolver that hangs is reported as what it is.
    this.#known = await this.#resolved(this.#options.connectTimeoutMs / 2);
    this.#fresh = true;
  }

  /** Returns when an attempt has succeeded, or the signal is aborted. */
  async dial({ attempt, avoid, fruitless, roundFailed }: Search): Promise<void> {
    const { sessionTimeoutMs } = this.#options;
    const since = performance.now();
    if (fruitless > 1) await this.#sleep(backoffMs(BACKOFF_ALIVE, fruitless, Math.random));
    for (let round = 0; !this.#signal.aborted; round++) {
      const addresses = await this.#addresses(round, avoid);
      const deadlineMs = this.#deadlineMs(addresses.length, round);
      for (const address of addresses) {
        const failure = await this.#try(attempt, address, deadlineMs);
        if (this.#signal.aborted || failure === null) return;
        this.failures.set(formatServer(address), failure);
      }
      roundFailed(addresses.every((address) => isDistrust(this.failures.get(formatServer(address)))));
      const backoff = performance.now() - since < sessionTimeoutMs ? BACKOFF_ALIVE : BACKOFF_LATER;
      await this.#sleep(backoffMs(backoff, round, Math.random));
    }
  }

  /** So long that a round leaves time before T is over, after T/3 in which the last server was silent; longer in each round. */
  #deadlineMs(servers: number, round: number): number {
    const { sessionTimeoutMs } = this.#options;
    const first = Math.max(LEAST_DEADLINE_MS, Math.min(sessionTimeoutMs / 3, (sessionTimeoutMs * 2) / 3 / servers));
    return Math.min(first * 2 ** Math.min(round, 10), Math.max(first, sessionTimeoutMs));
  }

  async #try(attempt: Search['attempt'], address: ResolvedAddress, deadlineMs: number): Promise<Error | null> {
    const { tls } = this.#options;
    try {
      if (tls === undefined) return await attempt({ address, tls: null, deadlineMs });
      const files = await readTls(tls);
      if (this.#signal.aborted) return null;
      return await attempt({ address, tls: { ...files, ...expectedPeer(tls, address.name) }, deadlineMs });
    } catch (error) {
      return error as Error;
    }
  }

  async #addresses(round: number, avoid: string | null): Promise<readonly ResolvedAddress[]> {
    // The resolver may be slow, or down together with the servers: then we go by what we know.
    const timeoutMs = Math.min(this.#options.sessionTimeoutMs / 6, RESOLVE_MS * 2 ** Math.min(round, 10));
    if (!this.#fresh) this.#known = await this.#resolved(timeoutMs).catch(() => this.#known);
    this.#fresh = false;
    const others = this.#known.filter((address) => formatServer(address) !== avoid);
    const last = this.#known.filter((address) => formatServer(address) === avoid);
    return [...others, ...last];
  }

  async #resolved(timeoutMs: number): Promise<readonly ResolvedAddress[]> {
    const { servers, lookup } = this.#options;
    const addresses = await resolveServers(servers, { timeoutMs, signal: this.#signal, lookup });
    // Of addresses that are gone nothing need be told.
    const present = new Set(addresses.map(formatServer));
    for (const key of this.failures.keys()) if (!present.has(key)) this.failures.delete(key);
    return addresses;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#signal.addEventListener('abort', done);
      if (this.#signal.aborted) done();
    });
  }
}
