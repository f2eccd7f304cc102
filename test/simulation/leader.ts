import type { Cancel } from '../../src/lease/clock.js';
import type { Inquiry, ToFollower, ToLeader } from './messages.js';
import type { Endpoint } from './network.js';
import type { Leadership, ServerCore } from './parts.js';
import { SessionTracker } from './session-tracker.js';
import type { Change, Submission, Transaction } from './transaction.js';
import type { Tree } from './tree.js';

interface Follower {
  readonly endpoint: Endpoint<ToLeader, ToFollower>;
  /** How much of our log it has written down; null before it has taken over what we had when it joined. */
  logged: number | null;
  /** Has been sent our log, and so is sent every proposal since. */
  joined: boolean;
  serving: boolean;
  lastHeard: number;
}

/** The owner of a session that no server has vouched for under this leader. */
const UNATTACHED = -1;

function ignore(): void {}

/**
 * The ensemble's leader: decides what each write amounts to, commits what a majority has logged, and
 * keeps the sessions' clocks. Cut off from the majority it commits nothing more, and yet answers
 * syncs and reconnects until it notices.
 */
export class LeaderRole implements Leadership {
  readonly #server: ServerCore;
  readonly #epoch: bigint;
  /** With every proposal applied, committed or not: what the next write is decided by. */
  readonly #head: Tree;
  readonly #tracker: SessionTracker;
  readonly #followers = new Map<number, Follower>();
  readonly #startedAt: number;
  readonly #inherited: number;
  #counter = 0n;
  #committed: number;
  #established = false;
  #stopped = false;
  #syncs: { readonly at: number; readonly done: () => void }[] = [];
  #timers: Cancel[] = [];

  constructor(server: ServerCore, epoch: bigint) {
    this.#server = server;
    this.#epoch = epoch;
    this.#tracker = new SessionTracker(server.around.settings.tickMs);
    this.#startedAt = this.#now;
    this.#inherited = server.log.length;
    this.#committed = server.applied;
    this.#head = server.tree.clone();
    for (const transaction of server.log.slice(server.applied)) this.#head.apply(transaction, ignore);
  }

  start(): void {
    const { tickMs } = this.#server.around.settings;
    this.#beat(this.#server.random.between(0, tickMs / 2));
    this.#watchExpiry();
    this.#establish();
  }

  accept(follower: number, endpoint: Endpoint<ToLeader, ToFollower>): void {
    endpoint.onMessage = (message) => this.#receive(follower, message);
    endpoint.onClose = () => {
      if (this.#followers.get(follower)?.endpoint === endpoint) this.#followers.delete(follower);
    };
    this.#followers.get(follower)?.endpoint.close();
    this.#followers.set(follower, { endpoint, logged: null, joined: false, serving: false, lastHeard: this.#now });
  }

  submit(submission: Submission): void {
    if (this.#stopped || !this.#established) return;
    const change = this.#decide(submission);
    this.#counter++;
    const zxid = (this.#epoch << 32n) | this.#counter;
    const transaction: Transaction = { zxid, time: this.#server.around.wall(), change, submission };
    this.#head.apply(transaction, ignore);
    this.#server.log.push(transaction);
    for (const follower of this.#followers.values()) {
      if (follower.joined) follower.endpoint.send({ type: 'propose', transaction });
    }
    this.#commit();
  }

  revalidate(inquiry: Inquiry): void {
    inquiry.answered(this.#tracker.attach(inquiry.session, this.#server.id, this.#now));
  }

  /** After what is proposed now; nobody is asked whether we still lead. */
  sync(done: () => void): void {
    if (this.#committed === this.#server.log.length) done();
    else this.#syncs.push({ at: this.#server.log.length, done });
  }

  touch(session: string): void {
    this.#tracker.touch(session, this.#now);
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers) cancel();
    for (const { endpoint } of this.#followers.values()) endpoint.close();
    this.#followers.clear();
  }

  get #now(): number {
    return this.#server.around.scheduler.now;
  }

  #decide({ write, session, via }: Submission): Change {
    switch (write.type) {
      case 'open':
        this.#tracker.track(write.session, write.timeoutMs, via, this.#now);
        break;
      case 'close':
        this.#tracker.startClosing(write.session);
        break;
      default: {
        const standing = session === null ? 'alive' : this.#tracker.check(session, via);
        if (standing === 'over') return { type: 'refuse', kind: 'session_expired' };
        if (standing === 'moved') return { type: 'refuse', kind: 'session_moved' };
      }
    }
    return this.#head.decide(write, session);
  }

  #receive(id: number, message: ToLeader): void {
    const follower = this.#followers.get(id);
    if (follower === undefined || this.#stopped) return;
    const { endpoint } = follower;
    follower.lastHeard = this.#now;
    switch (message.type) {
      case 'join':
        endpoint.send({ type: 'adopt', log: [...this.#server.log], epoch: this.#epoch });
        follower.joined = true;
        return;
      case 'ack':
        follower.logged = message.length;
        if (this.#established) this.#admit(follower);
        this.#establish();
        this.#commit();
        return;
      case 'submit':
        this.submit(message.submission);
        return;
      case 'revalidate': {
        const timeoutMs = this.#tracker.attach(message.inquiry.session, id, this.#now);
        endpoint.send({ type: 'revalidated', inquiry: message.inquiry, timeoutMs });
        return;
      }
      case 'sync':
        this.sync(() => endpoint.send({ type: 'synced', done: message.done }));
        return;
      case 'touched':
        for (const session of message.sessions) this.touch(session);
    }
  }

  /** Once a majority has taken over our log, all of it is committed, and every session's clock starts afresh. */
  #establish(): void {
    if (this.#established || this.#loggedByMajority() < this.#inherited) return;
    this.#established = true;
    this.#committed = this.#inherited;
    this.#server.applyUpTo(this.#committed);
    for (const [session, timeoutMs] of this.#server.tree.sessions) {
      this.#tracker.track(session, timeoutMs, UNATTACHED, this.#now);
    }
    this.#server.serve();
    this.#server.around.note(this.#server.name, `leads epoch ${this.#epoch}`);
    for (const follower of this.#followers.values()) this.#admit(follower);
  }

  #admit(follower: Follower): void {
    if (follower.serving || follower.logged === null) return;
    // All of it is in the log that the follower took over, or proposed to it on this connection since.
    follower.serving = true;
    follower.endpoint.send({ type: 'serve', committed: this.#committed });
  }

  #loggedByMajority(): number {
    const lengths = [this.#server.log.length];
    for (const { logged } of this.#followers.values()) if (logged !== null) lengths.push(logged);
    lengths.sort((a, b) => b - a);
    return lengths[this.#server.around.votes.majority - 1] ?? -1;
  }

  #commit(): void {
    const logged = this.#loggedByMajority();
    if (!this.#established || logged <= this.#committed) return;
    this.#committed = logged;
    for (const follower of this.#followers.values()) {
      if (follower.serving) follower.endpoint.send({ type: 'commit', committed: logged });
    }
    this.#server.applyUpTo(logged);
    const due = this.#syncs.filter(({ at }) => at <= logged);
    this.#syncs = this.#syncs.filter(({ at }) => at > logged);
    for (const { done } of due) done();
  }

  /** Twice a tick: drops followers not heard for too long, gives up without a majority of them, and asks the rest who is alive. */
  #beat(delayMs: number): void {
    const { scheduler, settings, votes } = this.#server.around;
    this.#timers[0] = scheduler.after(delayMs, () => {
      for (const [id, follower] of this.#followers) {
        if (this.#now - follower.lastHeard <= settings.syncLimit * settings.tickMs) continue;
        follower.endpoint.close();
        this.#followers.delete(id);
      }
      const patience = this.#established ? 0 : settings.initLimit * settings.tickMs;
      if (1 + this.#followers.size < votes.majority && this.#now - this.#startedAt >= patience) {
        this.#server.look('lost its majority');
        return;
      }
      for (const { endpoint } of this.#followers.values()) endpoint.send({ type: 'ping' });
      this.#beat(settings.tickMs / 2);
    });
  }

  #watchExpiry(): void {
    const { scheduler, settings } = this.#server.around;
    const next = (Math.floor(this.#now / settings.tickMs) + 1) * settings.tickMs;
    this.#timers[1] = scheduler.at(next, () => {
      if (this.#established) {
        for (const session of this.#tracker.takeExpired(this.#now)) {
          this.#server.around.note(this.#server.name, `expires session ${session}`);
          this.submit({ write: { type: 'close', session }, session: null, via: this.#server.id, origin: null });
        }
      }
      this.#watchExpiry();
    });
  }
}
