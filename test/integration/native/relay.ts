import { createConnection, createServer, type Server, type Socket } from 'node:net';

interface RelayOptions {
  readonly port: number;
  readonly host?: string;
  readonly targetPort: number;
  /** Cuts what the server sends into pieces of so many bytes, each sent by itself. */
  readonly pieceBytes?: number;
}

/** A TCP relay in front of a server, so that a test can choose its address, cut its replies up, or take it away. */
export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Where it listens; stays after `close()`. */
  port = 0;
  /** Connections accepted so far. */
  accepted = 0;

  private constructor(options: RelayOptions) {
    this.#server = createServer({ noDelay: true }, (client) => {
      this.accepted += 1;
      const upstream = createConnection({ port: options.targetPort, host: '127.0.0.1', noDelay: true });
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.on('data', (bytes) => upstream.write(bytes));
      if (options.pieceBytes === undefined) upstream.on('data', (bytes) => client.write(bytes));
      else relaySlowly(upstream, client, options.pieceBytes).catch(() => client.destroy());
    });
  }

  static async listen(options: RelayOptions): Promise<Relay> {
    const relay = new Relay(options);
    await new Promise<void>((resolve, reject) => {
      relay.#server.once('error', reject);
      relay.#server.listen(options.port, options.host ?? '127.0.0.1', resolve);
    });
    relay.port = (relay.#server.address() as { port: number }).port;
    return relay;
  }

  /** Drops the connections and goes on listening. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): Promise<void> {
    this.drop();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

async function relaySlowly(from: Socket, to: Socket, pieceBytes: number): Promise<void> {
  for await (const bytes of from as AsyncIterable<Buffer>) {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      to.write(bytes.subarray(at, at + pieceBytes));
      // A pause for each piece to travel alone; shorter ones would be merged on the way.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
