import { afterAll, beforeAll, describe, test } from 'vitest';
import type { NodeChange, Session, SessionState } from '../../src/election/port.js';
import { CoordinatorError } from '../../src/errors.js';
import type { ConformanceWorld, Party, PartyOptions } from './world.js';

export const NOTHING = new Uint8Array();

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** A session, and the client that it belongs to. */
export interface Seat extends Party {
  readonly session: Session;
}

/** What one test works with: a corner of the tree of its own, and sessions that are closed when it ends. */
export class Bench {
  readonly world: ConformanceWorld;
  /** An empty persistent node of this test's. */
  readonly root: string;
  readonly #sessions: Session[] = [];
  #hand: Session | null = null;

  constructor(world: ConformanceWorld, root: string) {
    this.world = world;
    this.root = root;
  }

  /** A session that nobody harms, to change things behind the tested one's back and to see the truth. */
  get hand(): Session {
    if (this.#hand === null) throw new Error('not set up');
    return this.#hand;
  }

  async setUp(): Promise<void> {
    this.#hand = (await this.seat()).session;
    await this.#hand.create(this.root, NOTHING, 'persistent');
  }

  async seat(options: PartyOptions = {}): Promise<Seat> {
    const party = await this.world.party(options);
    const session = this.keep(await party.driver.open());
    return Object.assign(party, { session });
  }

  /** To be closed at the test's end. */
  keep(session: Session): Session {
    this.#sessions.push(session);
    return session;
  }

  /** A write through the quorum: by its reply, everything committed before it has been announced on that session. */
  async barrier(session: Session): Promise<void> {
    await session.write(this.root, NOTHING, -1);
  }

  /** Waits until it holds; the time is that of the world. */
  async eventually(what: string, holds: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
    for (let waited = 0; waited < withinMs; waited += 20) {
      if (await holds()) return;
      await this.world.sleep(20);
    }
    throw new Error(`not within ${withinMs} ms: ${what}`);
  }

  async until(session: Session, state: SessionState, withinMs?: number): Promise<void> {
    await this.eventually(`the session is ${state}`, () => session.state === state, withinMs);
  }

  async end(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close()));
  }
}

/** Everything that a node's listener hears, in a list. */
export function changesOf(session: Session, path: string): NodeChange[] {
  const heard: NodeChange[] = [];
  session.onNode(path, (change) => heard.push(change));
  return heard;
}

/** Every state that a session's listener hears, in a list. */
export function statesOf(session: Session): SessionState[] {
  const heard: SessionState[] = [];
  session.onState((state) => heard.push(state));
  return heard;
}

/** The error of a rejected operation; anything else fails the test. */
export async function refusal(operation: Promise<unknown>): Promise<CoordinatorError> {
  const outcome = await operation.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  if (outcome instanceof CoordinatorError) return outcome;
  throw new Error('expected the operation to be refused', { cause: outcome });
}

/** Long enough a chain of reactions that whoever delivers the next thing too early is caught. */
export async function manyReactions(): Promise<void> {
  for (let i = 0; i < 30; i++) await null;
}

export type Check = (title: string, body: (bench: Bench) => Promise<void>) => void;

/** Declares the suite's tests over one world, each with a bench of its own. */
export function overWorld(name: string, makeWorld: () => Promise<ConformanceWorld>, declare: (check: Check) => void) {
  describe(name, () => {
    let world: ConformanceWorld;
    let count = 0;
    beforeAll(async () => {
      world = await makeWorld();
    }, 120_000);
    afterAll(() => world?.close());
    declare((title, body) => {
      test(title, { timeout: 60_000 }, () =>
        world.drive(async () => {
          count++;
          const bench = new Bench(world, `/test-${count}`);
          try {
            await bench.setUp();
            await body(bench);
          } finally {
            await bench.end();
          }
        }),
      );
    });
  });
}
