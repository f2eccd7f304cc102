import type { Cancel } from '../../src/lease/clock.js';
import type { ToClient, ToServer } from './messages.js';
import type { Endpoint, Network } from './network.js';
import type { SimulatedProcess } from './process.js';
import type { Server } from './server.js';

/** What a session hears of its connection, in order of arrival. */
export interface TransportEvents {
  attached(session: string, timeoutMs: number): void;
  expired(): void;
  message(message: ToClient): void;
  detached(how: 'connection_lost' | 'operation_timeout'): void;
  /** One more server could not be had. */
  attemptFailed(): void;
}

/**
 * Keeps a session attached to some server: tries one after the other, pings when idle for a third
 * of the timeout, gives up a server that is silent for two thirds. As real drivers do, it believes
 * in its session until the ensemble says otherwise.
 */
export class Transport {
  readonly #process: SimulatedProcess;
  readonly #network: Network;
  readonly #servers: readonly Server[];
  readonly #events: TransportEvents;
  #session: string | null = null;
  #timeoutMs: number;
  #endpoint: Endpoint<ToClient, ToServer> | null = null;
  #attached = false;
  #server: Server | null = null;
  #next: number;
  #failures = 0;
  #seen = 0n;
  #lastSent = 0;
  #lastHeard = 0;
  #timer: Cancel = () => {};

  constructor(
    process: SimulatedProcess,
    network: Network,
    servers: readonly Server[],
    timeoutMs: number,
    events: TransportEvents,
  ) {
    this.#process = process;
    this.#network = network;
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
    this.#events = events;
    this.#next = process.random.below(servers.length);
  }

  /** The newest transaction that this client knows of: no server that is behind it will be had. */
  get seen(): bigint {
    return this.#seen;
  }

  get attached(): boolean {
    return this.#attached;
  }

  /** The server that we are attached to, as far as we know. */
  get server(): Server | null {
    return this.#attached ? this.#server : null;
  }

  start(): void {
    this.#attempt();
  }

  send(message: ToServer): void {
    this.#lastSent = this.#now;
    this.#endpoint?.send(message);
  }

  stop(): void {
    this.#timer();
    this.#endpoint?.close();
    this.#endpoint = null;
    this.#attached = false;
  }

  get #now(): number {
    return this.#process.clock.monotonic();
  }

  #attempt(): void {
    const server = this.#servers[this.#next++ % this.#servers.length] as Server;
    const [endpoint, theirs] = this.#network.connect<ToClient, ToServer>(this.#process, server);
    this.#server = server;
    this.#endpoint = endpoint;
    endpoint.onMessage = (message) => this.#receive(message);
    endpoint.onClose = () => this.#lost('connection_lost');
    server.accept(theirs);
    this.#lastHeard = this.#now;
    this.send({ type: 'connect', session: this.#session, timeoutMs: this.#timeoutMs, seen: this.#seen });
    this.#timer = this.#process.clock.after(this.#timeoutMs / 3, () => this.#lost('operation_timeout'));
  }

  #receive(message: ToClient): void {
    this.#lastHeard = this.#now;
    if (message.type === 'reply' || message.type === 'pong') {
      if (message.zxid > this.#seen) this.#seen = message.zxid;
    }
    if (message.type === 'pong') return;
    if (message.type !== 'attached') {
      this.#events.message(message);
      return;
    }
    this.#timer();
    if (message.session === null) {
      this.stop();
      this.#events.expired();
      return;
    }
    this.#session = message.session;
    this.#timeoutMs = message.timeoutMs;
    this.#attached = true;
    this.#failures = 0;
    this.#tend();
    this.#events.attached(message.session, message.timeoutMs);
  }

  #tend(): void {
    const pingDue = this.#lastSent + this.#timeoutMs / 3;
    const silenceDue = this.#lastHeard + (this.#timeoutMs * 2) / 3;
    this.#timer = this.#process.clock.after(Math.min(pingDue, silenceDue) - this.#now, () => {
      if (this.#now >= this.#lastHeard + (this.#timeoutMs * 2) / 3) {
        this.#lost('operation_timeout');
        return;
      }
      if (this.#now >= this.#lastSent + this.#timeoutMs / 3) this.send({ type: 'ping' });
      this.#tend();
    });
  }

  #lost(how: 'connection_lost' | 'operation_timeout'): void {
    const wasAttached = this.#attached;
    this.stop();
    this.#failures++;
    const everywhere = this.#failures > this.#servers.length;
    const pause = everywhere ? this.#process.random.between(100, 600) : this.#process.random.between(5, 60);
    this.#timer = this.#process.clock.after(pause, () => this.#attempt());
    if (wasAttached) this.#events.detached(how);
    else this.#events.attemptFailed();
  }
}
