import type { Arena, Seat } from './arena.js';
import type { Random } from './random.js';

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
  readonly end?: () => unknown;
}

export interface Around<A extends Arena = Arena, S extends Seat = Seat> {
  readonly field: A;
  readonly random: Random;
  /** A worker that lives: half of the time the leader. Undefined where none is left to torment. */
  readonly victim: S | undefined;
  /** The number of a server to which nothing is being done, from 0; undefined where there is none. */
  readonly free: number | undefined;
  /** The numbers of those to which something is. */
  readonly busy: ReadonlySet<number>;
  /** No other fault is under way. */
  readonly alone: boolean;
}

type Outcome = Begun | undefined | Promise<Begun | undefined>;

/** Undefined where it can't be done now. */
export type Fault<A extends Arena = Arena, S extends Seat = Seat> = (around: Around<A, S>) => Outcome;

export function onVictim<A extends Arena = Arena, S extends Seat = Seat>(
  act: (around: Around<A, S> & { readonly victim: S }) => Outcome,
): Fault<A, S> {
  return (around) => (around.victim === undefined ? undefined : act({ ...around, victim: around.victim }));
}

/** The session timeout. */
export const T = (field: Arena): number => field.sessionTimeoutMs;
