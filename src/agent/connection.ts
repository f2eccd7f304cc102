import { type ConnectOptions, connect, type Logger, type Tenure, TenureError } from '../index.js';
import { unavailable } from './problem.js';

/** How long a request waits for a session before it is refused. */
const PATIENCE_MS = 2_000;

/** The connection to the ensemble: tried for as long as it takes, while HTTP is served already. */
export class Connection {
  readonly #options: ConnectOptions;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  /** Rejects when trying again can't help. */
  readonly opened: Promise<Tenure>;
  #tenure: Tenure | null = null;
  #connected = false;
  readonly #waiting = new Set<() => void>();

  /** `onOpen` is called before the first session carries anything. */
  constructor(options: ConnectOptions, logger: Logger, onOpen: (tenure: Tenure) => void) {
    this.#options = options;
    this.#logger = logger;
    this.opened = this.#open(onOpen);
    this.opened.catch(() => {});
  }

  /** Null before the first connection. */
  get tenure(): Tenure | null {
    return this.#tenure;
  }

  /** Whether a session is connected, by the driver's word: for showing. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Waits a little for a connected session. @throws {Problem} 503 */
  async ready(): Promise<Tenure> {
    if (!this.#connected) await this.#wait();
    if (this.#connected && this.#tenure !== null) return this.#tenure;
    throw unavailable('zookeeper_away', `no session with ZooKeeper could be had within ${PATIENCE_MS} ms`, 2);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the sidecar stops'));
    await this.opened.catch(() => {});
    await this.#tenure?.close();
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, PATIENCE_MS);
      this.#waiting.add(done);
    });
  }

  async #open(onOpen: (tenure: Tenure) => void): Promise<Tenure> {
    const { signal } = this.#stop;
    for (;;) {
      try {
        // No lifeline: our clients outlive us, and act until the last deadline that we told them.
        const tenure = await connect({ ...this.#options, lifeline: false, signal });
        tenure.events.on('session_state', ({ state }) => this.#is(state === 'connected'));
        tenure.events.on('session_opened', () => this.#is(true));
        this.#tenure = tenure;
        onOpen(tenure);
        this.#is(tenure.session !== null);
        return tenure;
      } catch (error) {
        if (signal.aborted || (error instanceof TenureError && !error.retriable)) throw error;
        this.#logger.warn({ err: error }, 'no session with ZooKeeper yet; trying again');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }

  #is(connected: boolean): void {
    this.#connected = connected;
    if (connected) for (const done of [...this.#waiting]) done();
  }
}
