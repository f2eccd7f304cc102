import type { NodeChange } from '../../src/election/port.js';
import type { Random } from '../../src/verify/random.js';
import type { Inquiry, ToFollower, ToLeader } from './messages.js';
import type { Endpoint, Host, Network } from './network.js';
import type { Scheduler } from './scheduler.js';
import type { Outcome, Submission, Transaction } from './transaction.js';
import type { Tree } from './tree.js';
import type { WatchTable } from './watches.js';

/** How the ensemble is configured: ZooKeeper's own settings. */
export interface EnsembleSettings {
  readonly tickMs: number;
  readonly syncLimit: number;
  readonly initLimit: number;
}

/** How servers find a leader. */
export interface Votes {
  readonly majority: number;
  /** Some server is looking. */
  consider(): void;
}

/** What every server of an ensemble shares. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly votes: Votes;
  readonly settings: EnsembleSettings;
  /** Each server tells of each transaction that it applies. */
  readonly onCommit: (transaction: Transaction, outcome: Outcome) => void;
  readonly note: (server: string, what: string) => void;
  /** The servers' wall clock. */
  readonly wall: () => number;
  /** Sessions that are to lose the reply of their next successful write. */
  readonly losingReply: Set<string>;
}

/** What a server in a quorum can do for its clients, whether it leads or follows. */
export interface Role {
  submit(submission: Submission): void;
  revalidate(inquiry: Inquiry): void;
  sync(done: () => void): void;
  /** The session's client was heard. */
  touch(session: string): void;
  stop(): void;
}

/** The role of a leader, as those who follow it reach it. */
export interface Leadership extends Role {
  accept(follower: number, endpoint: Endpoint<ToLeader, ToFollower>): void;
}

/** A client's connection at a server. */
export interface Attached {
  readonly session: string | null;
  announce(path: string, change: NodeChange): void;
  end(): void;
}

/** A server as its parts see it. */
export interface ServerCore extends Host {
  readonly id: number;
  readonly random: Random;
  readonly around: Surroundings;
  readonly tree: Tree;
  readonly watches: WatchTable<Attached>;
  /** On disk: survives a crash. Followed by proposals that no quorum may ever have. */
  readonly log: Transaction[];
  readonly applied: number;
  readonly role: Role | null;
  readonly serving: boolean;
  serve(): void;
  /** Gives up its role, drops every client, and looks for a leader again. */
  look(why: string): void;
  /** Takes over a leader's log; what we had beyond it was never committed. */
  adopt(log: readonly Transaction[], epoch: bigint): void;
  /** Applies the log up to this length. What is applied is committed, and never taken back. */
  applyUpTo(length: number): void;
  connectionOf(session: string): Attached | undefined;
  disconnected(connection: Attached): void;
  newSessionId(): string;
}

/** A server as an election of leaders sees it. */
export interface Voter extends Host {
  readonly id: number;
  readonly looking: boolean;
  readonly leadership: Leadership | null;
  /** Of the last leader whose log it has taken over. */
  readonly epoch: bigint;
  readonly lastLogged: bigint;
  lead(epoch: bigint): void;
  follow(endpoint: Endpoint<ToFollower, ToLeader>): void;
}
