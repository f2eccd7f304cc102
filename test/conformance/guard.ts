import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NotLeadingError, StaleTokenError } from '../../src/errors.js';
import {
  type Accepted,
  type FencedTerm,
  type FenceOutcome,
  type FencingObserver,
  InvalidResourceError,
} from '../../src/fencing/index.js';
import { MAX_TOKEN } from '../../src/token.js';
import { fakeTerm } from './terms.js';

/** One process's access to a guarded store. */
export interface Access {
  /** Appends the term's token to the resource's log under the guard. `pause` runs between the check and the write. */
  write(term: FencedTerm, resource: string, pause?: () => Promise<void>): Promise<unknown>;
  check(term: FencedTerm, resource: string): Promise<unknown>;
  highest(resource: string): Promise<Accepted | null>;
}

/** A store with its guard, as the suite drives it. */
export interface Harness {
  /** As another process would have it: its own guard and connections. */
  open(observer?: FencingObserver): Promise<Access>;
  /** The tokens that were written to the resource, in order. */
  log(resource: string): Promise<bigint[]>;
  /** Whether `log` shows every write, or only what was there when somebody looked. */
  readonly completeLog: boolean;
  /** Kills the store and starts it again. What is opened after that remembers nothing. */
  restart(): Promise<void>;
  /** The guard's verdicts that are made where the lease isn't known, as behind HTTP, are never `regressed`. */
  readonly leaseKnown: boolean;
  close(): Promise<void>;
}

const HOSTILE = [
  "Robert'); DROP TABLE fence;--",
  '"quoted"',
  '\\',
  '$tenure$',
  '__proto__',
  'constructor',
  '.',
  '..',
  '../../../etc/passwd',
  '/etc/passwd',
  '.tenure',
  'a/b',
  'a',
  'A',
  ' ',
  ' a',
  '%2e%2e%2f',
  '%61',
  '{',
  '}',
  '{a}',
  '{a}b',
  'a}b',
  '*',
  '$(reboot)',
  'é',
  'e\u0301',
  '\u202egnp.exe',
  '💣💥',
  '0'.repeat(512),
  `${'0'.repeat(511)}1`,
  'é'.repeat(256),
];

const REFUSED = ['', '\0', 'a\0b', 'line\nbreak', '\u0085', '\u007f', '\ud800', '0'.repeat(513), 'é'.repeat(257)];

/** What every guard keeps. `create` starts the store. */
export function guardConformance(name: string, create: () => Promise<Harness>): void {
  describe(`guard contract: ${name}`, () => {
    let harness: Harness;
    let access: Access;
    beforeAll(async () => {
      harness = await create();
      access = await harness.open();
    });
    afterAll(() => harness?.close());

    let made = 0;
    const fresh = (): string => `resource-${++made}`;

    test('accepts the first token, the same again and a higher one; refuses a lower one and says by whom', async () => {
      const resource = fresh();
      expect(await access.highest(resource)).toBeNull();
      await access.write(fakeTerm(10n, { leaderId: 'old "one"' }), resource);
      await access.write(fakeTerm(10n, { leaderId: 'old "one"' }), resource);
      await access.write(fakeTerm(12n, { leaderId: 'new ö' }), resource);
      const error = await access.write(fakeTerm(11n), resource).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(StaleTokenError);
      expect(error).toMatchObject({ resource, token: 11n, highest: 12n, holder: 'new ö', code: 'STALE_TOKEN' });
      expect(await access.highest(resource)).toEqual({ token: 12n, holder: 'new ö' });
      const log = await harness.log(resource);
      expect(log.at(-1)).toBe(12n);
      if (harness.completeLog) expect(log).toEqual([10n, 10n, 12n]);
    });

    test('check() accepts without a write, and fences off older terms at once', async () => {
      const resource = fresh();
      await access.write(fakeTerm(1n), resource);
      await access.check(fakeTerm(2n, { leaderId: 'operator' }), resource);
      await expect(access.write(fakeTerm(1n), resource)).rejects.toBeInstanceOf(StaleTokenError);
      await expect(access.check(fakeTerm(1n), resource)).rejects.toBeInstanceOf(StaleTokenError);
      expect(await harness.log(resource)).toEqual([1n]);
    });

    test('is monotonic under 32 concurrent writers with shuffled tokens', async () => {
      const resource = fresh();
      const doors = await Promise.all([access, harness.open(), harness.open(), harness.open()]);
      const tokens = shuffle(Array.from({ length: 32 }, (_, i) => BigInt(100 + i)));
      const accepted: bigint[] = [];
      await Promise.all(
        tokens.map(async (token, i) => {
          for (let round = 0; round < 3; round += 1) {
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
            try {
              await (doors[i % doors.length] as Access).write(fakeTerm(token), resource);
              accepted.push(token);
            } catch (error) {
              expect(error).toBeInstanceOf(StaleTokenError);
              expect((error as StaleTokenError).highest > token).toBe(true);
            }
          }
        }),
      );
      const log = await harness.log(resource);
      expect(log).toEqual(log.toSorted(ascending));
      expect(log.at(-1)).toBe(131n);
      expect(accepted.filter((token) => token === 131n)).toHaveLength(3);
      expect((await access.highest(resource))?.token).toBe(131n);
      if (harness.completeLog) expect(log).toEqual(accepted.toSorted(ascending));
    });

    test('a writer paused between check and write: the newer one gets through, the older one does not slip in after it', async () => {
      const resource = fresh();
      // Doors of their own: a single connection is gone after this.
      const [mine, other] = [await harness.open(), await harness.open()];
      // Not its first write of the term: guards have a shorter way for those that come after it.
      await mine.write(fakeTerm(1n), resource);
      const gate = pause();
      const older = mine.write(fakeTerm(1n, { forMs: 500 }), resource, gate.pause).catch((e: unknown) => e);
      await gate.reached;
      const began = performance.now();
      await other.write(fakeTerm(2n), resource);
      const waited = performance.now() - began;
      gate.resume();
      expect(await older).toBeInstanceOf(Error);
      expect(await harness.log(resource)).toEqual([1n, 2n]);
      // What remained of the older lease, and what a busy machine adds.
      expect(waited).toBeLessThan(500 + 2_000);
      await expect(access.write(fakeTerm(1n), resource)).rejects.toBeInstanceOf(StaleTokenError);
    });

    test.each(['first', 'later'])(
      'a writer that ends within its lease is waited for, and nothing of it is lost (%s write)',
      async (which) => {
        const resource = fresh();
        const other = await harness.open();
        if (which === 'later') await access.write(fakeTerm(1n), resource);
        const gate = pause();
        const older = access.write(fakeTerm(1n), resource, gate.pause);
        await gate.reached;
        const newer = other.write(fakeTerm(2n), resource);
        const early = await Promise.race([
          newer.then(() => 'through'),
          new Promise((r) => setTimeout(r, 150, 'waiting')),
        ]);
        expect(early).toBe('waiting');
        gate.resume();
        await older;
        await newer;
        const log = await harness.log(resource);
        expect(new Set(log)).toEqual(new Set([1n, 2n]));
        expect(log).toEqual(log.toSorted(ascending));
      },
    );

    test('of two that wait for an older writer, the lower one does not get in behind the higher one', async () => {
      const resource = fresh();
      const [second, third] = [await harness.open(), await harness.open()];
      const gate = pause();
      const older = access.write(fakeTerm(1n), resource, gate.pause);
      await gate.reached;
      const higher = third.write(fakeTerm(3n), resource);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const lower = second.write(fakeTerm(2n), resource).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 100));
      gate.resume();
      await Promise.all([older, higher]);
      const outcome = await lower;
      if (outcome instanceof StaleTokenError) {
        expect(outcome).toMatchObject({ token: 2n, highest: 3n });
        expect(await harness.log(resource)).toEqual([1n, 3n]);
        return;
      }
      // The higher one was tried again, after a serialization failure, and came behind it: that is in order, too.
      expect(outcome).toBeUndefined();
      expect(await harness.log(resource)).toEqual([1n, 2n, 3n]);
    });

    test('writers of one term run side by side: the guard orders terms', async () => {
      const resource = fresh();
      const other = await harness.open();
      await access.write(fakeTerm(5n), resource);
      const gate = pause();
      const slow = access.write(fakeTerm(5n), resource, gate.pause);
      await gate.reached;
      await other.write(fakeTerm(5n), resource);
      gate.resume();
      await slow;
    });

    test('is exact above 2^53 and up to 2^63 - 1', async () => {
      const resource = fresh();
      const tokens = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 62n + 1n, MAX_TOKEN - 1n, MAX_TOKEN];
      let last = 0n;
      for (const token of tokens) {
        await access.write(fakeTerm(token), resource);
        expect((await access.highest(resource))?.token).toBe(token);
        await expect(access.write(fakeTerm(token - 1n), resource)).rejects.toMatchObject({
          token: token - 1n,
          highest: token,
        });
        last = token;
      }
      expect(last).toBe(MAX_TOKEN);
      // Of different length: an order by text would have it the other way round.
      const short = fresh();
      await access.write(fakeTerm(9n), short);
      await access.write(fakeTerm(10n), short);
      await expect(access.write(fakeTerm(9n), short)).rejects.toBeInstanceOf(StaleTokenError);
      for (const bad of [0n, -1n, MAX_TOKEN + 1n]) {
        await expect(access.write(fakeTerm(bad), resource)).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
      }
    });

    test('keeps hostile names apart, each with its own fence', async () => {
      // Descending, so that two names that fell together would refuse one another.
      let token = 1_000n;
      for (const resource of HOSTILE) {
        token -= 1n;
        await access.write(fakeTerm(token), resource);
      }
      token = 1_000n;
      for (const resource of HOSTILE) {
        token -= 1n;
        expect((await access.highest(resource))?.token, resource).toBe(token);
        await expect(access.write(fakeTerm(1n), resource)).rejects.toMatchObject({ resource, highest: token });
      }
    });

    test('refuses names that not every store can keep', async () => {
      for (const resource of REFUSED) {
        await expect(access.write(fakeTerm(1n), resource), JSON.stringify(resource)).rejects.toBeInstanceOf(
          InvalidResourceError,
        );
        await expect(access.highest(resource)).rejects.toBeInstanceOf(InvalidResourceError);
      }
    });

    test('asserts the term before the write: one that may not act leaves no trace', async () => {
      const resource = fresh();
      const suspect = fakeTerm(9n, {
        assert: () => {
          throw new NotLeadingError('suspect');
        },
      });
      await expect(access.write(suspect, resource)).rejects.toBeInstanceOf(NotLeadingError);
      await expect(access.check(suspect, resource)).rejects.toBeInstanceOf(NotLeadingError);
      expect(await access.highest(resource)).toBeNull();
      expect(await harness.log(resource)).toEqual([]);
    });

    test('a draining term, its signal aborted, may finish what it began', async () => {
      const resource = fresh();
      const aborted = new AbortController();
      aborted.abort(new Error('resigned'));
      await access.write(fakeTerm(3n, { signal: aborted.signal }), resource);
      expect(await harness.log(resource)).toEqual([3n]);
    });

    test('tells the observer one verdict for each write', async () => {
      const resource = fresh();
      const seen: FenceOutcome[] = [];
      const door = await harness.open({ check: (where, outcome) => void (where === resource && seen.push(outcome)) });
      await door.write(fakeTerm(2n), resource);
      await door.write(fakeTerm(1n), resource).catch(() => undefined);
      await door.write(fakeTerm(1n, { forMs: 0 }), resource).catch(() => undefined);
      expect(seen).toEqual(['accepted', harness.leaseKnown ? 'regressed' : 'stale', 'stale']);
      const throwing = await harness.open({
        check: () => {
          throw new Error('an instrument is broken');
        },
      });
      await throwing.write(fakeTerm(3n), resource);
    });

    test('keeps what it has accepted when the store is killed and started again', async () => {
      const resource = fresh();
      await access.write(fakeTerm(41n), resource);
      await access.check(fakeTerm(42n, { leaderId: 'survivor' }), resource);
      await harness.restart();
      const door = await harness.open();
      await expect(door.write(fakeTerm(41n), resource)).rejects.toMatchObject({ highest: 42n, holder: 'survivor' });
      await door.write(fakeTerm(42n), resource);
      expect(await harness.log(resource)).toEqual([41n, 42n]);
    });
  });
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function shuffle<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}

/** A point at which a writer stands still until it is told to go on. */
export function pause(): { pause: () => Promise<void>; reached: Promise<void>; resume: () => void } {
  let resume: () => void = () => undefined;
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return {
    reached,
    resume,
    pause: () => {
      reach();
      return resumed;
    },
  };
}
