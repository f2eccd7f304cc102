import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** The two halves of one forwarded connection. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Forwards TCP on loopback to one address, and harms what it forwards: a network for one client. */
export class TcpProxy {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  #held: 'nothing' | 'replies' | 'all' = 'nothing';
  #losing = false;

  private constructor(listener: Server) {
    this.#listener = listener;
  }

  static async start(host: string, port: number): Promise<TcpProxy> {
    // Both sides stay half open until all that was sent has been passed on.
    const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true });
    const proxy = new TcpProxy(listener);
    listener.on('connection', (client) => {
      proxy.#forward({ client, server: dial({ host, port, allowHalfOpen: true }).pause() });
    });
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    const address = this.#listener.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed');
    return address.port;
  }

  /** What is sent waits: everything, or only what the server sends. New connections are taken, and wait as well. */
  hold(what: 'nothing' | 'replies' | 'all'): void {
    this.#held = what;
    for (const pair of this.#pairs) this.#flow(pair);
  }

  /** Cuts every connection; what waited is lost. */
  drop(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** The next thing that a server sends is lost, and its connection with it. */
  loseNextReply(): void {
    this.#losing = true;
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#listener.close(resolve));
  }

  #forward(pair: Pair): void {
    const { client, server } = pair;
    this.#pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay();
      from.on('data', (bytes) => {
        if (from === server && this.#losing) {
          this.#losing = false;
          client.resetAndDestroy();
          server.destroy();
        } else to.write(bytes);
      });
      from.on('end', () => to.end());
      // Its close follows.
      from.on('error', () => {});
      from.on('close', () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
    }
    this.#flow(pair);
  }

  #flow({ client, server }: Pair): void {
    if (this.#held === 'all') client.pause();
    else client.resume();
    if (this.#held === 'nothing') server.resume();
    else server.pause();
  }
}
