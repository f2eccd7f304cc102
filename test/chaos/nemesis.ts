import type { ZooKeeperServer } from '../../deploy/local/index.js';
import type { Random } from '../simulation/random.js';
import type { Field, Seat } from './field.js';
import type { NetworkHost } from './network.js';

/** A fault that has begun. */
export interface Begun {
  /** The seats whose workers can't be expected to lead while it lasts. */
  readonly on?: readonly Seat[];
  /** Nobody can be. */
  readonly stalls?: boolean;
  /** The number of the server that it is about: nothing else is done to that one meanwhile. */
  readonly server?: number;
  readonly detail?: string;
  /** How long it lasts; at once over where left out. */
  readonly ms?: number;
  readonly end?: () => void | Promise<void>;
}

export interface Around {
  readonly field: Field;
  readonly random: Random;
  /** A worker that lives: half of the time the leader. Undefined where none is left to torment. */
  readonly victim: Seat | undefined;
  /** The number of a server to which nothing is being done, from 0; undefined where there is none. */
  readonly free: number | undefined;
  /** No other fault is under way. */
  readonly alone: boolean;
}

/** Undefined where it can't be done now. */
export type Nemesis = (around: Around) => Begun | undefined | Promise<Begun | undefined>;

export const onVictim =
  (act: (around: Around & { victim: Seat }) => Begun | undefined | Promise<Begun | undefined>): Nemesis =>
  (around) =>
    around.victim === undefined ? undefined : act({ ...around, victim: around.victim });

export const onLines = (act: (around: Around & { victim: Seat }) => Begun | Promise<Begun>): Nemesis =>
  onVictim((around) => (around.victim.lines.length === 0 ? undefined : act(around)));

export const onServer =
  (
    act: (
      around: Around,
      server: ZooKeeperServer,
      host: NetworkHost,
      others: readonly NetworkHost[],
    ) => Begun | undefined,
  ): Nemesis =>
  (around) => {
    const { field, free } = around;
    const server = field.ensemble.servers[free ?? -1];
    const host = field.hosts[free ?? -1];
    if (server === undefined || host === undefined) return undefined;
    const others = field.hosts.filter((each) => each !== host);
    const begun = act(around, server, host, others);
    return begun && { ...begun, server: free as number };
  };

/** The session timeout. */
export const T = (field: Field): number => field.options.sessionTimeoutMs;
