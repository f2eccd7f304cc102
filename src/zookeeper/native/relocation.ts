import { isIP } from 'node:net';
import { formatServer, type ServerAddress } from '../servers.js';
import type { NativeSession } from './session.js';

/** Pause between look-ups while disconnected, in milliseconds. */
const INTERVAL_MS = 2000;

/**
 * Follows servers that move: while the session is disconnected, their names are looked up, and when one leads to an
 * address that the C client doesn't have, the session goes on through a new client with the new addresses. The old one
 * can't be given them: its `set_servers` closes the socket under libuv's hands, and the process aborts.
 */
export class Relocation {
  readonly #session: NativeSession;
  #known: ReadonlySet<string>;
  readonly #resolve: () => Promise<readonly ServerAddress[]>;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(
    session: NativeSession,
    known: readonly ServerAddress[],
    resolve: () => Promise<readonly ServerAddress[]>,
  ) {
    this.#session = session;
    this.#known = keys(known);
    this.#resolve = resolve;
  }

  /** Begins to look after the session, until its end. IP literals don't move. */
  static watch(
    session: NativeSession,
    servers: readonly ServerAddress[],
    known: readonly ServerAddress[],
    resolve: () => Promise<readonly ServerAddress[]>,
  ): void {
    if (servers.every(({ host }) => isIP(host) !== 0)) return;
    const relocation = new Relocation(session, known, resolve);
    session.onState(() => relocation.#stateChanged());
    relocation.#stateChanged();
  }

  #stateChanged(): void {
    clearTimeout(this.#timer);
    if (this.#session.state !== 'disconnected') return;
    if (!this.#looking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    // The resolver may be down together with the servers: then we ask again.
    const addresses = await this.#resolve().catch(() => []);
    this.#looking = false;
    if (this.#session.state !== 'disconnected') return;
    const found = keys(addresses);
    if ([...found].some((key) => !this.#known.has(key))) {
      this.#known = found;
      this.#session.move(addresses);
    }
    this.#timer = setTimeout(() => void this.#look(), INTERVAL_MS);
  }
}

function keys(addresses: readonly ServerAddress[]): ReadonlySet<string> {
  return new Set(addresses.map(formatServer));
}
