import { isIP } from 'node:net';
import { formatServer, type ServerAddress } from '../servers.js';
import type { NativeSession } from './session.js';

/** Pause between look-ups while disconnected, in milliseconds. */
const INTERVAL_MS = 2000;

/**
 * Gives a session up when its servers have moved: disconnected for at least T, while their names lead to an address that
 * the C client doesn't have. It can't be given new ones (its `set_servers` closes the socket under libuv's hands, and the
 * process aborts), and it would try the old ones for ever. The ensemble, if it runs, has expired the session by then; if
 * it doesn't, it will, as nobody keeps it alive. Whoever opens the next session gets the new addresses.
 */
export class Relocation {
  readonly #session: NativeSession;
  readonly #known: ReadonlySet<string>;
  readonly #resolve: () => Promise<readonly ServerAddress[]>;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #looking = false;

  constructor(
    session: NativeSession,
    known: readonly ServerAddress[],
    resolve: () => Promise<readonly ServerAddress[]>,
  ) {
    this.#session = session;
    this.#known = new Set(known.map(formatServer));
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
    this.#since = performance.now();
    if (!this.#looking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    // The resolver may be down together with the servers: then we ask again.
    const addresses = await this.#resolve().catch(() => []);
    this.#looking = false;
    if (this.#session.state !== 'disconnected') return;
    const moved = addresses.some((address) => !this.#known.has(formatServer(address)));
    const waitMs = this.#since + this.#session.timeoutMs - performance.now();
    if (moved && waitMs <= 0) this.#session.abandon();
    else this.#timer = setTimeout(() => void this.#look(), moved ? Math.min(waitMs, INTERVAL_MS) : INTERVAL_MS);
  }
}
