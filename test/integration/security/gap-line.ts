import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** The operation that changes an ACL, in ZooKeeper's protocol. */
const SET_ACL = 7;

interface Hold {
  readonly mentions: string;
  readonly meanwhile: (path: string) => Promise<void>;
}

/**
 * The line between a client and a server, which makes the moment between a znode's creation and its closing as long as somebody
 * needs to do something in it; and which can be silent, so that a client doesn't hear what becomes of its session.
 */
export class GapLine implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #hold: Hold | null = null;
  #silent = false;

  private constructor(target: { readonly host: string; readonly clientPort: number }) {
    this.#server = createServer({ noDelay: true }, (client) => {
      if (this.#silent) {
        this.#sockets.add(client.on('error', () => {}).pause());
        return;
      }
      const upstream = createConnection({ host: target.host, port: target.clientPort, noDelay: true });
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          if (this.#silent) return;
          client.destroy();
          upstream.destroy();
        });
      }
      upstream.on('data', (bytes) => client.write(bytes));
      this.#forward(client, upstream).catch(() => client.destroy());
    });
  }

  static async to(target: { readonly host: string; readonly clientPort: number }): Promise<GapLine> {
    const line = new GapLine(target);
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    return line;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Has this done before the next znode whose path mentions that is closed. */
  inTheGap(mentions: string, meanwhile: (path: string) => Promise<void>): void {
    this.#hold = { mentions, meanwhile };
  }

  /** Nothing passes any more, no connection is answered, and nobody is told: not even that the server has hung up. */
  silence(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #forward(client: Socket, upstream: Socket): Promise<void> {
    let left = Buffer.alloc(0);
    let handshake = true;
    for await (const bytes of client as AsyncIterable<Buffer>) {
      left = Buffer.concat([left, bytes]);
      while (left.length >= 4 && left.length >= 4 + left.readInt32BE(0)) {
        const frame = left.subarray(0, 4 + left.readInt32BE(0));
        left = left.subarray(frame.length);
        if (!handshake && frame.readInt32BE(8) === SET_ACL) await this.#meanwhile(pathOf(frame));
        handshake = false;
        upstream.write(frame);
      }
    }
  }

  async #meanwhile(path: string): Promise<void> {
    const hold = this.#hold;
    if (hold === null || !path.includes(hold.mentions)) return;
    this.#hold = null;
    await hold.meanwhile(path);
  }
}

/** Behind length, number and operation. */
function pathOf(frame: Buffer): string {
  return frame.toString('utf8', 16, 16 + frame.readInt32BE(12));
}
