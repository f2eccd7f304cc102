import { isIP } from 'node:net';
import { formatServer, type ServerAddress } from '../servers.js';
import type { NativeSession } from './session.js';

/** Pause between look-ups while disconnected, in milliseconds. */
const INTERVAL_MS = 2000;

/**
 * Looks the servers' names up again for as long as the session is disconnected, and gives the client the addresses when
 * they have changed: in a cluster that restarts its servers elsewhere, the old ones lead nowhere.
 */
export class AddressRefresh {
  readonly #session: NativeSession;
  readonly #resolve: () => Promise<readonly ServerAddress[]>;
  #timer: NodeJS.Timeout | undefined;
  #known = '';
  #running = false;

  constructor(
    session: NativeSession,
    servers: readonly ServerAddress[],
    resolve: () => Promise<readonly ServerAddress[]>,
  ) {
    this.#session = session;
    this.#resolve = resolve;
    if (servers.every(({ host }) => isIP(host) !== 0)) return;
    session.onState((state) => {
      clearTimeout(this.#timer);
      if (state === 'disconnected' && !this.#running) void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#running = true;
    try {
      const addresses = await this.#resolve();
      const key = addresses.map(formatServer).sort().join();
      if (this.#session.state === 'disconnected' && key !== this.#known) {
        this.#known = key;
        this.#session.setAddresses(addresses);
      }
    } catch {
      // The resolver may be down together with the servers: the addresses we have stay, and we ask again.
    } finally {
      this.#running = false;
    }
    if (this.#session.state === 'disconnected') this.#timer = setTimeout(() => void this.#look(), INTERVAL_MS);
  }
}
