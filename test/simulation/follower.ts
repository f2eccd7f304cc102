import type { Cancel } from '../../src/lease/clock.js';
import type { Inquiry, ToFollower, ToLeader } from './messages.js';
import type { Endpoint } from './network.js';
import type { Role, ServerCore } from './parts.js';
import type { Submission } from './transaction.js';

/** A server that follows: logs what it is sent, applies what it is told is committed, and forwards writes. */
export class FollowerRole implements Role {
  readonly #server: ServerCore;
  readonly #leader: Endpoint<ToFollower, ToLeader>;
  /** Sessions heard since the leader last asked: all that it ever learns of them. */
  readonly #touched = new Set<string>();
  #lastHeard: number;
  #timer: Cancel = () => {};

  constructor(server: ServerCore, leader: Endpoint<ToFollower, ToLeader>) {
    this.#server = server;
    this.#leader = leader;
    this.#lastHeard = server.around.scheduler.now;
    leader.onMessage = (message) => this.#receive(message);
    leader.onClose = () => server.look('its leader hung up');
    leader.send({ type: 'join' });
    this.#listen();
  }

  submit(submission: Submission): void {
    this.#leader.send({ type: 'submit', submission });
  }

  revalidate(inquiry: Inquiry): void {
    this.#leader.send({ type: 'revalidate', inquiry });
  }

  sync(done: () => void): void {
    this.#leader.send({ type: 'sync', done });
  }

  touch(session: string): void {
    this.#touched.add(session);
  }

  stop(): void {
    this.#timer();
    this.#leader.close();
  }

  #receive(message: ToFollower): void {
    const server = this.#server;
    this.#lastHeard = server.around.scheduler.now;
    switch (message.type) {
      case 'adopt':
        server.adopt(message.log, message.epoch);
        this.#leader.send({ type: 'ack', length: server.log.length });
        return;
      case 'serve':
        server.applyUpTo(message.committed);
        server.serve();
        return;
      case 'propose':
        server.log.push(message.transaction);
        this.#leader.send({ type: 'ack', length: server.log.length });
        return;
      case 'commit':
        server.applyUpTo(message.committed);
        return;
      case 'ping':
        this.#leader.send({ type: 'touched', sessions: [...this.#touched] });
        this.#touched.clear();
        return;
      case 'revalidated':
        message.inquiry.answered(message.timeoutMs);
        return;
      case 'synced':
        message.done();
    }
  }

  /** Gives up on a leader that it hasn't heard for syncLimit ticks; until then it serves what it has. */
  #listen(): void {
    const { scheduler, settings } = this.#server.around;
    const limit = (this.#server.serving ? settings.syncLimit : settings.initLimit) * settings.tickMs;
    const silent = scheduler.now - this.#lastHeard;
    if (silent >= limit) {
      this.#server.look('its leader is silent');
      return;
    }
    // At least 1: what is left may be too little for the sum of two doubles to move on.
    this.#timer = scheduler.after(Math.max(1, limit - silent), () => this.#listen());
  }
}
