import { waitFor } from '../../deploy/local/index.js';
import type { Session } from '../../src/election/port.js';
import { inOrder } from '../../src/election/queue.js';
import { nativeDriver } from '../../src/zookeeper/native/driver.js';
import { parseConnectString } from '../../src/zookeeper/servers.js';

export interface Standing {
  readonly node: string;
  readonly owner: string | null;
  readonly czxid: bigint;
}

/** Somebody with a shell on the ensemble: looks at the nodes themselves, deletes and overwrites them by hand. */
export class Operator implements AsyncDisposable {
  readonly session: Session;
  readonly root: string;

  private constructor(session: Session, root: string) {
    this.session = session;
    this.root = root;
  }

  static async at(
    servers: string,
    { root = '/tenure', sessionTimeoutMs = 20_000, connectTimeoutMs = 20_000 } = {},
  ): Promise<Operator> {
    const driver = await nativeDriver({
      servers: parseConnectString(servers).servers,
      sessionTimeoutMs,
      connectTimeoutMs,
    });
    return new Operator(await driver.open(), root);
  }

  queuePath(election: string): string {
    return `${this.root}/${election}/queue`;
  }

  termPath(election: string): string {
    return `${this.root}/${election}/term`;
  }

  /** Everything in the queue, ours or not. */
  async children(election: string): Promise<readonly string[]> {
    await this.session.sync('/');
    return (await this.session.children(this.queuePath(election)))?.names ?? [];
  }

  /** The candidates in order, with who owns their nodes. */
  async queue(election: string): Promise<Standing[]> {
    const standings: Standing[] = [];
    for (const node of inOrder(await this.children(election))) {
      const stat = await this.session.stat(`${this.queuePath(election)}/${node}`);
      if (stat !== null) standings.push({ node, owner: stat.owner, czxid: stat.czxid });
    }
    return standings;
  }

  async record(election: string): Promise<Record<string, unknown> | null> {
    await this.session.sync('/');
    const found = await this.session.read(this.termPath(election));
    return found === null ? null : (JSON.parse(Buffer.from(found.data).toString()) as Record<string, unknown>);
  }

  /** Waits until exactly so many stand in the queue. */
  async queueOf(election: string, count: number, timeoutMs = 60_000): Promise<Standing[]> {
    let last: Standing[] = [];
    return waitFor(
      async () => {
        last = await this.queue(election);
        return last.length === count && last;
      },
      { what: `${count} candidates in the queue`, timeoutMs, intervalMs: 10 },
    ).catch((error: Error) => {
      throw new Error(`${error.message}; there are ${last.map(({ node }) => node).join(', ') || 'none'}`);
    });
  }

  remove(path: string): Promise<void> {
    return this.session.remove(path);
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
