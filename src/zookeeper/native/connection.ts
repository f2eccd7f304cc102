import type { NodeChange } from '../../election/port.js';
import type { ServerAddress } from '../servers.js';
import type { Handle, HandleFactory } from './addon.js';
import { CONNECTED, NOT_CONNECTED } from './codes.js';

/** What makes a session ours: in the addon's own spelling. */
export interface Identity {
  /** Unpadded hex. */
  readonly id: string;
  /** 32 hex digits in upper case: the addon reads no others. */
  readonly password: string;
}

/** What a {@link Connection} tells: each call from its own turn of the event loop, in order of arrival. */
export interface ConnectionEvents {
  connected(identity: Identity, timeoutMs: number): void;
  disconnected(): void;
  /** The C client has closed itself: its code. */
  ended(code: number): void;
  node(path: string, change: NodeChange): void;
}

const NODE_EVENTS: ReadonlyMap<string, NodeChange> = new Map([
  ['created', 'created'],
  ['deleted', 'deleted'],
  ['changed', 'changed'],
  ['child', 'children'],
]);

/**
 * Runs `task` outside of the native callback that we are in. Each reply and each event gets its own immediate: Node runs
 * them in order and all promise reactions of one before the next, which is the order that the port promises. Inside
 * the callback, our code could close the client (abort) or open a socket, which would get a dead connection's descriptor.
 */
export function deliver(task: () => void): void {
  setImmediate(task);
}

/** One C client; a closed one is never used again. */
export class Connection {
  readonly handle: Handle;
  #closed = false;
  /** As the C client last said; its `state` knows more, and says less. */
  #up = false;

  /** The events get closures of this client's own: the addon ties a function to one client. */
  constructor(create: HandleFactory, events: ConnectionEvents) {
    this.handle = create();
    this.handle.emit = (event, _self, detail) => {
      if (event === 'connect') {
        this.#up = true;
        const { client_id: id, client_password: password, timeout } = this.handle;
        deliver(() => events.connected({ id, password }, timeout));
      } else if (event === 'connecting') {
        this.#up = false;
        deliver(() => events.disconnected());
      } else if (event === 'close') {
        // Our own close says so as well.
        if (this.#closed) return;
        this.#closed = true;
        const code = Number(detail);
        deliver(() => events.ended(code));
      } else {
        const change = NODE_EVENTS.get(event);
        if (change !== undefined) deliver(() => events.node(String(detail), change));
      }
    };
  }

  /**
   * Begins to connect, to a new session or to that of `identity`.
   *
   * @returns false when the first attempt failed at once: the addon's loop has stopped then and this client never will connect
   */
  start(addresses: readonly ServerAddress[], sessionTimeoutMs: number, identity: Identity | null): boolean {
    this.handle.init({
      connect: serverList(addresses),
      timeout: sessionTimeoutMs,
      debug_level: 0,
      // The addresses are in random order already.
      host_order_deterministic: true,
      // By default the addon closes our live session, as "expired", over a reply that arrives in more than 10 pieces.
      response_counter_limit: 2_147_483_647,
      ...(identity === null ? {} : { client_id: identity.id, client_password: identity.password }),
    });
    return this.handle.state !== NOT_CONNECTED;
  }

  /** Whether the C client is connected right now, which our own state learns a little later. Good for nothing but that. */
  get connected(): boolean {
    return !this.#closed && this.handle.state === CONNECTED;
  }

  /**
   * Whether the C client has closed its socket in the middle of a call of ours, and told nobody. It is beyond use then: what
   * it had sent by halves it would go on sending to the next server.
   */
  get broken(): boolean {
    return this.#up && !this.#closed && this.handle.state !== CONNECTED;
  }

  /** Ends the session if connected, and frees the client. Blocks: about 1 ms, up to 1.5 s on a server that hangs. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.handle.close();
  }
}

/** IP literals, always: with a name, the C client would call the resolver on each turn of the event loop. No brackets: it knows none. */
function serverList(addresses: readonly ServerAddress[]): string {
  return addresses.map(({ host, port }) => `${host}:${port}`).join(',');
}
