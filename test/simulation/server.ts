import type { Random } from '../../src/verify/random.js';
import { FollowerRole } from './follower.js';
import { LeaderRole } from './leader.js';
import type { ToClient, ToFollower, ToLeader, ToServer } from './messages.js';
import type { Endpoint } from './network.js';
import type { Attached, Role, ServerCore, Surroundings, Voter } from './parts.js';
import { ServerConnection } from './server-connection.js';
import type { Outcome, Transaction } from './transaction.js';
import { Tree } from './tree.js';
import { WatchTable } from './watches.js';

/**
 * One server. It holds a log, of which a prefix is applied to its tree, and serves clients from
 * that tree while it has a role: a follower behind the others answers reads from the past, and one
 * that is cut off goes on doing so until it notices.
 */
export class Server implements ServerCore, Voter {
  readonly id: number;
  readonly name: string;
  readonly random: Random;
  readonly around: Surroundings;
  readonly tree = new Tree();
  readonly watches = new WatchTable<Attached>();
  readonly log: Transaction[] = [];
  #epoch = 0n;
  #applied = 0;
  #role: Role | null = null;
  #serving = false;
  #up = true;
  readonly #connections = new Set<ServerConnection>();
  #sessionsOpened = 0;

  constructor(id: number, random: Random, around: Surroundings) {
    this.id = id;
    this.name = `server-${id}`;
    this.random = random;
    this.around = around;
  }

  get up(): boolean {
    return this.#up;
  }

  get looking(): boolean {
    return this.#up && this.#role === null;
  }

  get serving(): boolean {
    return this.#serving;
  }

  get role(): Role | null {
    return this.#role;
  }

  /** The leadership of this server, whether or not it has its quorum yet. */
  get leadership(): LeaderRole | null {
    return this.#role instanceof LeaderRole ? this.#role : null;
  }

  get applied(): number {
    return this.#applied;
  }

  get epoch(): bigint {
    return this.#epoch;
  }

  get lastLogged(): bigint {
    return this.log.at(-1)?.zxid ?? 0n;
  }

  run(task: () => void): void {
    if (this.#up) task();
  }

  lead(epoch: bigint): void {
    this.#epoch = epoch;
    const role = new LeaderRole(this, epoch);
    this.#role = role;
    role.start();
  }

  follow(endpoint: Endpoint<ToFollower, ToLeader>): void {
    this.#role = new FollowerRole(this, endpoint);
  }

  adopt(log: readonly Transaction[], epoch: bigint): void {
    if (this.#applied > 0 && log[this.#applied - 1] !== this.log[this.#applied - 1]) {
      throw new Error(`${this.name} has applied what its new leader never logged`);
    }
    this.#epoch = epoch;
    this.log.length = 0;
    for (const transaction of log) this.log.push(transaction);
  }

  serve(): void {
    this.#serving = true;
  }

  look(why: string): void {
    this.around.note(this.name, `looks for a leader: ${why}`);
    this.#quit();
    this.around.votes.consider();
  }

  crash(): void {
    if (!this.#up) return;
    this.around.note(this.name, 'crashes');
    // First of all: an orderly end would let what it has sent arrive.
    this.around.network.reset(this, { local: false });
    this.#quit();
    this.#up = false;
  }

  restart(): void {
    if (this.#up) return;
    this.around.note(this.name, 'restarts');
    this.#up = true;
    this.around.votes.consider();
  }

  accept(endpoint: Endpoint<ToServer, ToClient>): void {
    if (!this.#up) {
      endpoint.close();
      return;
    }
    this.#connections.add(new ServerConnection(this, endpoint));
  }

  disconnected(connection: Attached): void {
    for (const each of this.#connections) if (each === connection) this.#connections.delete(each);
    this.watches.drop(connection);
  }

  connectionOf(session: string): ServerConnection | undefined {
    for (const connection of this.#connections) if (connection.session === session) return connection;
    return undefined;
  }

  newSessionId(): string {
    this.#sessionsOpened++;
    return ((BigInt(this.id) << 56n) | (0x9a_0000_0000n + BigInt(this.#sessionsOpened))).toString(16).padStart(16, '0');
  }

  applyUpTo(length: number): void {
    while (this.#applied < length) {
      const transaction = this.log[this.#applied];
      if (transaction === undefined) throw new Error(`${this.name} is told to apply what it has not logged`);
      this.#applied++;
      const outcome = this.tree.apply(transaction, (path, change) => {
        for (const watcher of this.watches.take(path, change)) watcher.announce(path, change);
      });
      this.around.onCommit(transaction, outcome);
      this.#settle(transaction, outcome);
    }
  }

  #settle({ submission, change, zxid }: Transaction, outcome: Outcome): void {
    if (submission.via === this.id && submission.origin !== null) {
      for (const connection of this.#connections) if (connection.settle(submission.origin, zxid, outcome)) break;
    }
    if (change.type === 'close') this.connectionOf(change.session)?.end();
  }

  #quit(): void {
    this.#serving = false;
    const role = this.#role;
    this.#role = null;
    role?.stop();
    for (const connection of [...this.#connections]) connection.end();
    this.watches.clear();
  }
}
