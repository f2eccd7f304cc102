import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** The number that every ping has. */
const PING = -2;

/** Operation codes of ZooKeeper's protocol. */
export const OPERATION = {
  create: 1,
  remove: 2,
  exists: 3,
  read: 4,
  write: 5,
  ping: 11,
  children: 12,
  transaction: 14,
} as const;

/** The create that answers with a stat too, which one driver sends and the other doesn't: the same to us. */
const CREATE_WITH_STAT = 15;

export type Direction = 'requests' | 'replies';

/** Packets and bytes, of one direction. */
export interface Amount {
  packets: number;
  bytes: number;
}

/** What has passed, pings left out. */
export interface Traffic {
  readonly requests: Amount;
  readonly replies: Amount;
  /** Renewals, and the reads by which a successor dates them: requests that grow with time and not with what happens. */
  readonly signsOfLife: Amount;
  /** How many requests of each operation, by its code. */
  readonly operations: Readonly<Record<number, number>>;
}

/** A cut of the line that waits for a request of this kind, lets it reach the server, and swallows its reply. */
interface LostReply {
  readonly operation: number;
  readonly mentions: string;
  readonly done: () => void;
}

/**
 * The line between a client and a server, which fails as lines do: drops, refuses, stalls, delays, or loses the one reply
 * that matters. It forwards whole packets, so that nothing is ever torn.
 */
export class FaultyLine {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #refusing = false;
  readonly requests: Amount = { packets: 0, bytes: 0 };
  readonly replies: Amount = { packets: 0, bytes: 0 };
  readonly signsOfLife: Amount = { packets: 0, bytes: 0 };
  readonly operations = new Map<number, number>();
  readonly stalled: Record<Direction, boolean> = { requests: false, replies: false };
  /** With replies stalled: new connections' handshakes are let through all the same. */
  handshakes = false;
  delayRepliesMs = 0;
  lostReply: LostReply | null = null;

  private constructor(host: string, port: number) {
    this.#server = createServer({ noDelay: true }, (client) => {
      if (this.#refusing) {
        client.destroy();
        return;
      }
      const connection = new Connection(this, client, createConnection({ host, port, noDelay: true }));
      this.#connections.add(connection);
      client.once('close', () => this.#connections.delete(connection));
    });
  }

  static async to(target: { readonly host: string; readonly clientPort: number }): Promise<FaultyLine> {
    const line = new FaultyLine(target.host, target.clientPort);
    await new Promise<void>((resolve, reject) => {
      line.#server.once('error', reject);
      line.#server.listen(0, '127.0.0.1', resolve);
    });
    return line;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Cuts the connections; new ones are taken. */
  drop(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Cuts the connections and takes no new ones. */
  refuse(): void {
    this.#refusing = true;
    this.drop();
  }

  /** Holds back what passes from now on; the connections stay up. */
  stall(...directions: Direction[]): void {
    for (const direction of directions) this.stalled[direction] = true;
  }

  /** Holds back all replies, those to handshakes excepted. */
  answerHandshakesOnly(): void {
    this.handshakes = true;
    this.stall('replies');
  }

  /** From now on each reply is under way for so long. */
  delayReplies(ms: number): void {
    this.delayRepliesMs = ms;
  }

  traffic(): Traffic {
    const { requests, replies, signsOfLife } = this;
    return { requests, replies, signsOfLife, operations: Object.fromEntries(this.operations) };
  }

  /** Everything works again; what was held back is delivered. */
  mend(): void {
    this.#refusing = false;
    this.handshakes = false;
    this.delayRepliesMs = 0;
    this.stalled.requests = false;
    this.stalled.replies = false;
    for (const connection of this.#connections) connection.flow();
  }

  /** The next request of this kind is carried out, but its reply is lost, and the connection with it. */
  loseReply(operation: number, mentions: string): Promise<void> {
    return new Promise((done) => {
      this.lostReply = { operation, mentions, done };
    });
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

class Connection {
  readonly #line: FaultyLine;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #held: Record<Direction, Buffer[]> = { requests: [], replies: [] };
  readonly #timers = new Set<NodeJS.Timeout>();
  #handshake: Record<Direction, boolean> = { requests: true, replies: true };
  /** The numbers of the requests that were signs of life. */
  readonly #signs = new Set<number>();
  /** The number of the request whose reply is swallowed. */
  #swallowed: number | null = null;
  #swallowing: LostReply | null = null;

  constructor(line: FaultyLine, client: Socket, upstream: Socket) {
    this.#line = line;
    this.#client = client;
    this.#upstream = upstream;
    for (const socket of [client, upstream]) {
      socket.on('error', () => {});
      socket.on('close', () => this.cut());
    }
    client.on(
      'data',
      packets((packet) => this.#request(packet)),
    );
    upstream.on(
      'data',
      packets((packet) => this.#reply(packet)),
    );
  }

  cut(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#client.destroy();
    this.#upstream.destroy();
  }

  flow(): void {
    for (const packet of this.#held.requests.splice(0)) this.#upstream.write(packet);
    for (const packet of this.#held.replies.splice(0)) this.#client.write(packet);
  }

  #request(packet: Buffer): void {
    if (!this.#handshake.requests) this.#count(packet);
    this.#handshake.requests = false;
    if (this.#line.stalled.requests) this.#held.requests.push(packet);
    else this.#upstream.write(packet);
  }

  #count(packet: Buffer): void {
    const code = packet.readInt32BE(8);
    const operation = code === CREATE_WITH_STAT ? OPERATION.create : code;
    if (operation === OPERATION.ping) return;
    const sign = packet.includes('/sessions/');
    if (sign) this.#signs.add(packet.readInt32BE(4));
    add(packet, sign ? this.#line.signsOfLife : this.#line.requests);
    this.#line.operations.set(operation, (this.#line.operations.get(operation) ?? 0) + 1);
    const { lostReply } = this.#line;
    if (lostReply?.operation === operation && packet.includes(lostReply.mentions)) {
      this.#line.lostReply = null;
      this.#swallowing = lostReply;
      this.#swallowed = packet.readInt32BE(4);
    }
  }

  /** Replies to pings and signs of life are left out, and the events that announce the latter. */
  #countReply(packet: Buffer): void {
    const number = packet.readInt32BE(4);
    if (number === PING || this.#signs.delete(number) || packet.includes('/sessions/')) return;
    add(packet, this.#line.replies);
  }

  #reply(packet: Buffer): void {
    const handshake = this.#handshake.replies;
    this.#handshake.replies = false;
    if (!handshake) this.#countReply(packet);
    if (!handshake && packet.readInt32BE(4) === this.#swallowed) {
      this.cut();
      this.#swallowing?.done();
      return;
    }
    if (this.#swallowed !== null) return;
    const passes = handshake && this.#line.handshakes;
    if ((this.#line.stalled.replies && !passes) || this.#held.replies.length > 0) this.#held.replies.push(packet);
    else if (this.#line.delayRepliesMs === 0) this.#client.write(packet);
    else {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        if (this.#line.stalled.replies) this.#held.replies.push(packet);
        else this.#client.write(packet);
      }, this.#line.delayRepliesMs);
      this.#timers.add(timer);
    }
  }
}

function add(packet: Buffer, amount: Amount): void {
  amount.packets += 1;
  amount.bytes += packet.length;
}

/** Cuts a stream of bytes into ZooKeeper's packets: four bytes of length before each. */
function packets(take: (packet: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}
