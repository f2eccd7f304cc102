import type { AclEntry } from '../../driver.js';
import type { EnsembleHealth } from '../../zookeeper/ensemble.js';
import type { ServerStatus } from '../../zookeeper/server-status.js';

/** What was asked for: findings compare with it. */
export interface Asked {
  readonly sessionTimeoutMs: number;
  /** With the chroot before it. */
  readonly root: string;
  readonly tls: boolean;
}

/** A session that one server granted, and what was measured on it. */
export interface SessionFacts {
  readonly openedInMs: number;
  readonly grantedMs: number;
  readonly readsMs: readonly number[];
  /** Through the quorum; empty where nothing may be written. */
  readonly writesMs: readonly number[];
  /** How far the clock of the ensemble's leader is ahead of ours; null where nothing was written. */
  readonly skew: Skew | null;
}

export interface Skew {
  readonly aheadMs: number;
  /** It is off by this at most. */
  readonly errorMs: number;
}

export interface ServerFacts {
  /** `host:port`. */
  readonly server: string;
  readonly voter: boolean;
  /** Whether the connect string names it. */
  readonly named: boolean;
  readonly status: ServerStatus;
  /** `error`: why it granted none. */
  readonly session: SessionFacts | { readonly error: string; readonly denied: boolean };
  /** The bounds in which it grants timeouts; null where `conf` isn't allowed. */
  readonly bounds: { readonly tickMs: number; readonly minMs: number; readonly maxMs: number } | null;
}

export interface EnsembleFacts {
  readonly servers: readonly ServerFacts[];
  readonly health: EnsembleHealth;
  /** Whether the ensemble itself told who belongs to it. */
  readonly membersKnown: boolean;
}

/** What became of trying to read, create, write and delete where elections lie. */
export interface AccessFacts {
  /** The deepest znode on the way to the root that exists. */
  readonly path: string;
  readonly rootExists: boolean;
  /** Null where the ensemble doesn't let us see it. */
  readonly acl: readonly AclEntry[] | null;
  /** Which of them an ACL forbids. */
  readonly forbidden: readonly ('read' | 'create' | 'write' | 'delete')[];
  /** We may not create at the root, but where workers do in a root that was prepared for them. */
  readonly prepared: boolean;
  /** Nothing was written because we were told to. */
  readonly readOnly: boolean;
}

export interface CandidateFacts {
  readonly node: string;
  readonly id: string;
  /** The owning session; null for a node that is not ephemeral. */
  readonly owner: string | null;
  /** Whether it is a process of this machine, by its host's name, that doesn't run. */
  readonly goneHere: boolean;
  readonly ageMs: number;
  /** Of another library. */
  readonly foreign: boolean;
}

export interface ElectionFacts {
  readonly election: string;
  /** In order; when there are too many, the first ones. */
  readonly candidates: readonly CandidateFacts[];
  /** How many there are in all. */
  readonly standing: number;
  readonly headroom: number | null;
  /** Children of the queue that are no candidates. */
  readonly strangers: readonly string[];
  readonly record:
    | { readonly kind: 'absent' }
    | { readonly kind: 'unreadable'; readonly message: string }
    | {
        readonly kind: 'read';
        readonly ageMs: number;
        /** The leader's candidate znode; null when nobody has led, or the end is announced. */
        readonly leaderNode: string | null;
        readonly paused: { readonly by: string; readonly at: string; readonly reason: string } | null;
      };
}

/** What the ensemble's leader knows of sessions, by the word `dump`; null where that isn't allowed. */
export type LiveSessions = ReadonlySet<string> | null;

export interface NativeFacts {
  readonly state: 'good' | 'inherits' | 'unavailable' | 'unused';
  readonly message: string;
}

/** Everything that was seen, before any of it is judged. */
export interface Facts {
  readonly asked: Asked;
  readonly ensemble: EnsembleFacts;
  /** Null without a session. */
  readonly access: AccessFacts | null;
  readonly elections: readonly ElectionFacts[];
  readonly liveSessions: LiveSessions;
  readonly native: NativeFacts;
}
