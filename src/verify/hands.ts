import { openDriver } from '../driver.js';
import { silentLogger } from '../election/host.js';
import type { Driver, Session } from '../election/port.js';
import { CoordinatorError } from '../errors.js';
import { type ConnectOptions, connect, type Tenure } from '../index.js';
import { resolveConnectOptions } from '../options.js';
import { parseConnectString } from '../zookeeper/servers.js';
import { monotonicMs, sleep } from './monotonic.js';

/** For a session to do one thing in. */
const AT_ONCE_MS = 3_000;

const AGAIN_MS = 500;

/** Straight access to the ensemble, around all that is done to the workers: a connection that gives orders, and sessions to do things by hand. */
export class Hands {
  readonly tenure: Tenure;
  /** As granted. */
  readonly sessionTimeoutMs: number;
  readonly #driver: Driver;

  private constructor(tenure: Tenure, driver: Driver, sessionTimeoutMs: number) {
    this.tenure = tenure;
    this.#driver = driver;
    this.sessionTimeoutMs = sessionTimeoutMs;
  }

  /** @throws as {@link connect} */
  static async open(options: ConnectOptions): Promise<Hands> {
    // By our own driver, whichever the workers have: it closes znodes as it creates them where that is asked for.
    const own: ConnectOptions = { ...options, driver: 'wire', lifeline: false, logger: silentLogger };
    const tenure = await connect(own);
    try {
      const { servers, sessionTimeoutMs, auth, choice } = resolveConnectOptions(own);
      const reach = {
        servers: parseConnectString(servers).servers,
        sessionTimeoutMs,
        connectTimeoutMs: AT_ONCE_MS,
        auth,
      };
      const driver = await openDriver(choice, { ...reach, onWarning: () => {} }, silentLogger);
      const session = await driver.open(options.signal);
      const { timeoutMs } = session;
      await session.close();
      return new Hands(tenure, driver, timeoutMs);
    } catch (error) {
      await tenure.close();
      throw error;
    }
  }

  /** A session to keep, which its owner closes. */
  session(): Promise<Session> {
    return this.#driver.open();
  }

  async byHand<R>(act: (session: Session) => Promise<R>): Promise<R> {
    const session = await this.session();
    try {
      return await act(session);
    } finally {
      await session.close();
    }
  }

  /** As {@link byHand}, again and again where servers come and go. @throws what the last attempt did, after so long */
  async persistently<R>(act: (session: Session) => Promise<R>, timeoutMs: number): Promise<R> {
    const giveUpAt = monotonicMs() + timeoutMs;
    for (;;) {
      try {
        return await this.byHand(act);
      } catch (error) {
        const denied = error instanceof CoordinatorError && error.kind === 'no_auth';
        if (denied || monotonicMs() > giveUpAt) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  /** Removes a znode and all below it, also what others still make there. @returns whether all is gone */
  async removeTree(path: string, timeoutMs: number): Promise<boolean> {
    try {
      await this.persistently((session) => removeBelow(session, path), timeoutMs);
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await this.tenure.close();
  }
}

async function removeBelow(session: Session, path: string): Promise<void> {
  const children = await session.children(path);
  if (children === null) return;
  for (const name of children.names) await removeBelow(session, `${path}/${name}`);
  try {
    await session.remove(path);
  } catch (error) {
    if (!(error instanceof CoordinatorError && error.kind === 'no_node')) throw error;
  }
}
