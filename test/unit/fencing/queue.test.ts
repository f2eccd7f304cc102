import { describe, expect, test } from 'vitest';
import { InvalidOptionError, InvalidTokenError, StaleTokenError } from '../../../src/errors.js';
import {
  type Accepted,
  checkResource,
  type FencedTerm,
  type Guard,
  InvalidResourceError,
  MissingTokenError,
} from '../../../src/fencing/index.js';
import { fencingHeaders, queueGate } from '../../../src/fencing/queue.js';
import { fakeTerm } from '../../conformance/terms.js';

/** A guard that remembers in memory: the contract's checks, without a store. */
class MemoryGuard implements Guard<string> {
  readonly #accepted = new Map<string, Accepted>();

  async hold<T>(term: FencedTerm, resource: string, work: (context: string) => T | Promise<T>): Promise<T> {
    const { token = 0n, holder } = this.#accepted.get(checkResource(resource)) ?? {};
    if (term.token < token) throw new StaleTokenError(resource, term.token, token, holder);
    this.#accepted.set(resource, { token: term.token, holder: term.leaderId });
    return await work('context');
  }
  async check(term: FencedTerm, resource: string): Promise<void> {
    await this.hold(term, resource, () => undefined);
  }
  async highest(resource: string): Promise<Accepted | null> {
    return this.#accepted.get(resource) ?? null;
  }
}

type Message = Record<string, string | Uint8Array | undefined>;
const newGate = (resource?: (message: Message) => string, seen: string[] = []) =>
  queueGate({
    guard: new MemoryGuard(),
    header: (message: Message, name) => message[name],
    ...(resource && { resource }),
    observer: { check: (what, outcome) => void seen.push(`${what} ${outcome}`) },
  });

describe('the gate of a queue consumer', () => {
  test('handles, and drops what a stale leader has sent late', async () => {
    const gate = newGate();
    const handled: string[] = [];
    const message = (token: bigint): Message =>
      fencingHeaders(fakeTerm(token, { leaderId: `leader ${token} ö` }), 'orders/ö');
    const handle = (token: bigint) =>
      gate(message(token), (context, term) => handled.push(`${context} ${term.token} ${term.leaderId}`));
    expect(await handle(1n)).toEqual({ outcome: 'handled', value: 1 });
    expect(await handle(2n)).toEqual({ outcome: 'handled', value: 2 });
    const dropped = await handle(1n);
    expect(dropped).toMatchObject({ outcome: 'dropped', error: { highest: 2n, holder: 'leader 2 ö' } });
    expect(handled).toEqual(['context 1 leader 1 ö', 'context 2 leader 2 ö']);
  });

  test('never handles what does not say whose it is', async () => {
    const seen: string[] = [];
    const gate = newGate(undefined, seen);
    const never = () => {
      throw new Error('handled');
    };
    await expect(gate({}, never)).rejects.toBeInstanceOf(MissingTokenError);
    await expect(gate({ 'fencing-token': '1' }, never)).rejects.toBeInstanceOf(MissingTokenError);
    await expect(gate({ 'fencing-resource': 'r' }, never)).rejects.toBeInstanceOf(MissingTokenError);
    await expect(gate({ 'fencing-token': 'one', 'fencing-resource': 'r' }, never)).rejects.toMatchObject({
      code: 'INVALID_TOKEN',
    });
    await expect(gate({ 'fencing-token': Buffer.from('1'), 'fencing-resource': '%' }, never)).rejects.toBeInstanceOf(
      InvalidResourceError,
    );
    expect(seen).toEqual(['other missing', 'other missing', 'r missing']);
  });

  test.each([5, 5n, true, {}, Object.create(null), [5], [['5']], ['5', '5'], []])(
    'a token that is %o and no text is not a token',
    async (value) => {
      const message = { 'fencing-token': value, 'fencing-resource': 'r' } as unknown as Message;
      await expect(newGate()(message, () => 'x')).rejects.toBeInstanceOf(InvalidTokenError);
      const named = { 'fencing-token': '5', 'fencing-resource': value } as unknown as Message;
      await expect(newGate()(named, () => 'x')).rejects.toBeInstanceOf(InvalidResourceError);
      const held = { 'fencing-token': '5', 'fencing-resource': 'r', 'fencing-holder': value } as unknown as Message;
      expect(await newGate()(held, () => 'x')).toMatchObject({ outcome: 'handled' });
    },
  );

  test('a list of one is what it has in it, be it text or bytes', async () => {
    const message = { 'fencing-token': ['5'], 'fencing-resource': [Buffer.from('r')] } as unknown as Message;
    expect(await newGate()(message, (_, term) => term.token)).toEqual({ outcome: 'handled', value: 5n });
  });

  test.each([
    { timeoutMs: Number.POSITIVE_INFINITY },
    { timeoutMs: 2 ** 31 },
    { timeoutMs: 0 },
    { waitMs: Number.NaN },
  ])('a gate is not made with %j: a timer would take it for 1 ms', (times) => {
    expect(() => queueGate({ guard: new MemoryGuard(), header: () => '1', ...times })).toThrow(InvalidOptionError);
  });

  test('knows its own resource, and takes no other’s messages', async () => {
    const gate = newGate(() => 'own');
    expect(await gate({ 'fencing-token': '1' }, () => 'x')).toEqual({ outcome: 'handled', value: 'x' });
    await expect(gate({ 'fencing-token': '1', 'fencing-resource': 'other' }, () => 'x')).rejects.toBeInstanceOf(
      InvalidResourceError,
    );
  });

  test.each([
    ['elsewhere', new StaleTokenError('elsewhere', 1n, 2n)],
    ['with another token', new StaleTokenError('r', 5n, 6n)],
  ])('a refusal that the handler met %s is the handler’s failure', async (_, refusal) => {
    const gate = newGate();
    const message: Message = { 'fencing-token': '1', 'fencing-resource': 'r' };
    await expect(gate(message, () => Promise.reject(refusal))).rejects.toBe(refusal);
  });

  test('a message is a write: a term that may not act gives it no headers', () => {
    const term = fakeTerm(1n, {
      assert: () => {
        throw new Error('over');
      },
    });
    expect(() => fencingHeaders(term, 'r')).toThrow('over');
  });
});
