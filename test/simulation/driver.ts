import type { Driver, Session } from '../../src/election/port.js';
import { ConnectTimeoutError } from '../../src/errors.js';
import type { Network } from './network.js';
import type { SimulatedProcess } from './process.js';
import type { Server } from './server.js';
import { SimulatedSession } from './session.js';

export interface DriverOptions {
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /**
   * How often a reconnect is made by a new client, as the native driver has to now and then: it brings no watches along,
   * so each path that was watched is announced, whether it has changed or not. From 0 to 1.
   */
  readonly newClientChance: number;
  /** Whether its sessions know transactions, as the wire driver's do. */
  readonly transactions: boolean;
}

/** One process's way to the ensemble. */
export class SimulatedDriver implements Driver {
  readonly name = 'simulated';
  readonly #process: SimulatedProcess;
  readonly #network: Network;
  readonly #servers: readonly Server[];
  readonly #options: DriverOptions;
  readonly #sessions = new Set<SimulatedSession>();

  constructor(process: SimulatedProcess, network: Network, servers: readonly Server[], options: DriverOptions) {
    this.#process = process;
    this.#network = network;
    this.#servers = servers;
    this.#options = options;
  }

  /** Those opened here that aren't over. */
  get sessions(): readonly SimulatedSession[] {
    for (const session of this.#sessions) {
      if (session.state === 'expired' || session.state === 'closed') this.#sessions.delete(session);
    }
    return [...this.#sessions];
  }

  open(signal?: AbortSignal): Promise<Session> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw signal.reason;
      const { sessionTimeoutMs, connectTimeoutMs } = this.#options;
      const giveUp = (reason: unknown) => {
        settled();
        void session.close();
        reject(reason);
      };
      const abort = () => giveUp(signal?.reason);
      const settled = () => {
        cancel();
        signal?.removeEventListener('abort', abort);
      };
      const session = new SimulatedSession(
        this.#process,
        this.#network,
        this.#servers,
        sessionTimeoutMs,
        this.#options,
        (opened) => {
          settled();
          this.#sessions.add(opened);
          resolve(opened);
        },
      );
      const cancel = this.#process.clock.after(connectTimeoutMs, () => {
        giveUp(new ConnectTimeoutError(`no session with the simulated ensemble within ${connectTimeoutMs} ms`));
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
