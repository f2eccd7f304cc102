import { readFileSync } from 'node:fs';
import { Redis as IoRedis } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Redis, startRedis, waitFor } from '../../../deploy/local/index.js';
import { InvalidOptionError, NotLeadingError } from '../../../src/errors.js';
import { CommitUnknownError, type FencedTerm, FenceReleasedError } from '../../../src/fencing/index.js';
import { key, type RedisCommand, redisGuard } from '../../../src/fencing/redis.js';
import { pause } from '../../conformance/guard.js';
import { fakeTerm } from '../../conformance/terms.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('one server', () => {
  let server: Redis;
  let client: IoRedis;
  beforeAll(async () => {
    server = await startRedis();
    client = new IoRedis(server.port, '127.0.0.1');
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.close();
  });

  test('commands of a write run together, and return their replies', async () => {
    const guard = redisGuard(client);
    const replies = await guard.write(fakeTerm(1n), 'r', [
      ['SET', 'a', 'ü'],
      ['INCRBY', 'n', 5],
      ['GET', 'none'],
      ['HSET', 'h', 'f', Buffer.from('bytes')],
      ['RENAME', 'a', key('b')],
      ['HGETALL', 'h'],
    ]);
    expect(replies).toEqual(['OK', 5, null, 1, 'OK', ['f', 'bytes']]);
    expect(await client.get('b')).toBe('ü');
    expect(await guard.write(fakeTerm(1n), 'r', [])).toEqual([]);
  });

  test('a stale write runs none of its commands', async () => {
    const guard = redisGuard(client);
    await guard.write(fakeTerm(2n), 'stale', [['SET', 's', 'new']]);
    await expect(
      guard.write(fakeTerm(1n), 'stale', [
        ['SET', 's', 'old'],
        ['SET', 't', 'old'],
      ]),
    ).rejects.toMatchObject({ code: 'STALE_TOKEN' });
    expect(await client.mget('s', 't')).toEqual(['new', null]);
  });

  test('a script of one’s own has its own KEYS and ARGV, and survives SCRIPT FLUSH', async () => {
    const add = redisGuard(client).script(`
      local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
      if sum > 10 then return 'full' end
      return {sum, KEYS[2] or 'one key', #ARGV}
    `);
    expect(await add(fakeTerm(1n), 'script', { keys: ['sum'], args: [4] })).toEqual([4, 'one key', 1]);
    await client.script('FLUSH');
    expect(await add(fakeTerm(1n), 'script', { keys: ['sum', 'x'], args: [9, 9] })).toBe('full');
    expect(await redisGuard(client).script('return nil')(fakeTerm(1n), 'script')).toBeNull();
    await expect(add(fakeTerm(0n), 'script')).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
  });

  test('what a failed command has before it stays, as in every Redis script', async () => {
    const guard = redisGuard(client);
    await expect(
      guard.write(fakeTerm(1n), 'half', [
        ['SET', 'first', '1'],
        ['LPUSH', 'first', 'x'],
      ]),
    ).rejects.toThrow(/WRONGTYPE/);
    expect(await client.get('first')).toBe('1');
  });

  test('while a newer term waits, the older hold may finish, and nothing else of its term', async () => {
    const guard = redisGuard(client);
    const list = guard.key('held', 'list');
    const push = (what: string) => [['RPUSH', list, what] as const];
    let newer: Promise<unknown> = Promise.resolve();
    await guard.hold(fakeTerm(1n), 'held', async (hold) => {
      newer = guard.write(fakeTerm(2n), 'held', push('newer'));
      await sleep(50);
      await hold.write(push('in the hold'));
      await expect(guard.write(fakeTerm(1n), 'held', push('beside it'))).rejects.toMatchObject({ highest: 2n });
      await expect(guard.hold(fakeTerm(1n), 'held', () => undefined)).rejects.toMatchObject({ highest: 2n });
    });
    await newer;
    expect(await client.lrange(list, 0, -1)).toEqual(['in the hold', 'newer']);
    const late = await guard.hold(fakeTerm(2n), 'held', (hold) => hold);
    await expect(late.write([])).rejects.toBeInstanceOf(FenceReleasedError);
  });

  test('the Lua that the docs give to other languages keeps the same fence', async () => {
    const page = readFileSync(new URL('../../../docs/fencing.md', import.meta.url), 'utf8');
    const check = /```lua\n([\s\S]*?)```/.exec(page)?.[1] as string;
    const guard = redisGuard(client);
    const elsewhere = (token: bigint) =>
      client.eval(`${check}\nreturn 'written'`, 1, 'tenure:fence:{shared}', String(token), 'python');
    expect(await elsewhere(9n)).toBe('written');
    expect(await elsewhere(10n)).toBe('written');
    await expect(elsewhere(9n)).rejects.toThrow('TNSTALE 10 python');
    await expect(guard.write(fakeTerm(9n), 'shared', [])).rejects.toMatchObject({ highest: 10n, holder: 'python' });
    await guard.write(fakeTerm(10n), 'shared', []);
    await guard.write(fakeTerm(2n ** 62n), 'shared', []);
    await expect(elsewhere(2n ** 62n - 1n)).rejects.toThrow(`TNSTALE ${2n ** 62n}`);
  });

  test('a client’s key prefix goes before every key', async () => {
    const prefixed = new IoRedis(server.port, '127.0.0.1', { keyPrefix: 'app:' });
    const guard = redisGuard(prefixed);
    await guard.write(fakeTerm(1n), 'prefixed', [
      ['SET', 'x', '1'],
      ['RENAME', 'x', key('y')],
    ]);
    expect(await client.get('app:y')).toBe('1');
    expect(await client.exists('x', 'y')).toBe(0);
    expect(await client.exists('app:tenure:fence:{prefixed}')).toBe(1);
    expect(await guard.highest('prefixed')).toMatchObject({ token: 1n });
    prefixed.disconnect();
  });

  test('what can’t be a command is refused before anything is sent', async () => {
    const guard = redisGuard(client);
    const name = guard.key('commands', 'x');
    const bad: unknown[] = [
      [],
      [''],
      [5, name],
      'SET',
      ['SET', name, undefined],
      ['SET', name, null],
      ['SET', name, {}],
      ['SET', name, true],
      ['SET', name, Number.NaN],
      ['SET', undefined, '1'],
      ['RENAME', name, key(undefined as unknown as string)],
      ['RPUSH', name, ...Array.from({ length: 7_899 }, () => 'x')],
    ];
    for (const command of bad) {
      const commands = [['SET', name, 'before'], command] as unknown as RedisCommand[];
      await expect(guard.write(fakeTerm(1n), 'commands', commands)).rejects.toBeInstanceOf(InvalidOptionError);
    }
    const script = guard.script('return 1');
    for (const given of [{ keys: [undefined] }, { args: [undefined] }, { args: [null] }] as object[])
      await expect(script(fakeTerm(1n), 'commands', given)).rejects.toBeInstanceOf(InvalidOptionError);
    expect(await client.exists(name)).toBe(0);
    expect(await guard.highest('commands')).toBeNull();
  });

  test('a command of as many words as Lua can take runs', async () => {
    const guard = redisGuard(client);
    const name = guard.key('long', 'list');
    const push = ['RPUSH', name, ...Array.from({ length: 7_898 }, () => 'x')] as const;
    expect(await guard.write(fakeTerm(1n), 'long', [push, push])).toEqual([7_898, 2 * 7_898]);
  });

  test('the highest token is the one that waits: it is what older terms are refused for', async () => {
    const guard = redisGuard(client);
    let newer: Promise<unknown> = Promise.resolve();
    await guard.hold(fakeTerm(1n, { leaderId: 'one' }), 'pending', async () => {
      expect(await guard.highest('pending')).toEqual({ token: 1n, holder: 'one' });
      newer = guard.check(fakeTerm(2n, { leaderId: 'two' }), 'pending');
      await waitFor(() => client.hexists('tenure:fence:{pending}', 'pending'), { what: 'the newer term to wait' });
      expect(await guard.highest('pending')).toEqual({ token: 2n, holder: 'two' });
    });
    await newer;
    expect(await guard.highest('pending')).toEqual({ token: 2n, holder: 'two' });
  });

  test('a server that hangs keeps nobody past the end of the term', async () => {
    const guard = redisGuard(client);
    const until = performance.now() + 400;
    const term = (): FencedTerm =>
      fakeTerm(1n, {
        assert: () => {
          if (performance.now() > until) throw new NotLeadingError('over');
        },
      });
    const name = guard.key('hung', 'x');
    // So that its release is the first that hangs.
    const gate = pause();
    const released = guard.hold(term(), 'hung', () => gate.pause());
    await gate.reached;
    process.kill(server.pid as number, 'SIGSTOP');
    try {
      gate.resume();
      const results = await Promise.allSettled([
        guard.write(term(), 'hung', [['SET', name, '1']]),
        guard.check(term(), 'hung'),
        released,
      ]);
      expect(performance.now() - until).toBeLessThan(1_000);
      expect(results.slice(0, 2)).toEqual([
        { status: 'rejected', reason: expect.any(CommitUnknownError) },
        { status: 'rejected', reason: expect.any(CommitUnknownError) },
      ]);
      expect(results[2]?.status).toBe('fulfilled');
    } finally {
      process.kill(server.pid as number, 'SIGCONT');
    }
    // Unknown it was: it had been sent, and takes effect when the server wakes.
    await waitFor(async () => (await client.get(name)) === '1', { what: 'the late write' });
  });

  test('the fence’s own keys never expire, and are all there is', async () => {
    await client.flushall();
    const guard = redisGuard(client, { prefix: 'p' });
    await guard.hold(fakeTerm(1n), 'only', () => undefined);
    const keys = await client.keys('*');
    expect(keys).toEqual(['p:fence:{only}']);
    expect(await client.ttl(keys[0] as string)).toBe(-1);
  });
});

describe('a cluster', () => {
  let server: Redis;
  let client: IoRedis;
  beforeAll(async () => {
    server = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] });
    client = new IoRedis(server.port, '127.0.0.1');
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitFor(async () => /cluster_state:ok/.test(await client.cluster('INFO')), { what: 'the cluster' });
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.close();
  });

  test('keys of a resource are in one slot, whatever its name', async () => {
    const guard = redisGuard(client);
    for (const resource of ['plain', '{', '}', '{}', '}{a}', 'a{b}c', '%7B', '💣']) {
      await guard.write(fakeTerm(1n), resource, [
        ['SET', guard.key(resource, 'a{x}b'), '1'],
        ['RENAME', guard.key(resource, 'a{x}b'), key(guard.key(resource, 'c'))],
      ]);
      await guard.hold(fakeTerm(2n), resource, (hold) => hold.write([['SET', guard.key(resource, 'd'), '1']]));
    }
  });

  test('keys of another slot are refused before anything runs', async () => {
    const guard = redisGuard(client);
    const mine = guard.key('r', 'mine');
    await expect(
      guard.write(fakeTerm(1n), 'r', [
        ['SET', mine, '1'],
        ['SET', 'elsewhere', '1'],
      ]),
    ).rejects.toThrow(/CROSSSLOT/);
    expect(await client.get(mine)).toBeNull();
    expect(await guard.highest('r')).toBeNull();
  });

  test('both clients’ clusters find the node, and a tag of one’s own keeps existing keys', async () => {
    const cluster = new IoRedis.Cluster([{ host: '127.0.0.1', port: server.port }]);
    await redisGuard(cluster, { tag: (resource) => `user:${resource}` }).write(fakeTerm(1n), '42', [
      ['SET', '{user:42}:balance', '7'],
    ]);
    cluster.disconnect();
    const other = createCluster({ rootNodes: [{ url: server.url }] });
    await other.connect();
    const guard = redisGuard(other, { tag: (resource) => `user:${resource}` });
    await expect(guard.write(fakeTerm(0n + 1n), '42', [['GET', '{user:42}:balance']])).resolves.toEqual(['7']);
    expect(await guard.highest('42')).toMatchObject({ token: 1n });
    await other.close();
  });
});
