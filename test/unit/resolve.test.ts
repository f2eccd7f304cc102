import { describe, expect, it, vi } from 'vitest';
import { NameResolutionError } from '../../src/errors.js';
import { type Lookup, resolveServers } from '../../src/zookeeper/resolve.js';
import { formatServer, parseConnectString } from '../../src/zookeeper/servers.js';

const servers = (text: string) => parseConnectString(text).servers;
const never: Promise<never> = new Promise(() => {});

function table(names: Record<string, readonly string[] | 'never'>): Lookup {
  return async (host) => {
    const found = names[host];
    if (found === 'never') return never;
    if (found === undefined) throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' });
    return found;
  };
}

describe('resolveServers', () => {
  it('gives each address once, with the port of its server', async () => {
    const lookup = table({ zk: ['10.0.0.1', '2001:db8::1'], same: ['10.0.0.1'] });
    const found = await resolveServers(servers('zk:1,zk:2,same:1,[::1]:3,10.0.0.9'), { timeoutMs: 1000, lookup });
    expect(found.map(formatServer).sort()).toEqual(
      ['10.0.0.1:1', '[2001:db8::1]:1', '10.0.0.1:2', '[2001:db8::1]:2', '[::1]:3', '10.0.0.9:2181'].sort(),
    );
  });

  it('asks no resolver about literals', async () => {
    const lookup = vi.fn<Lookup>();
    await resolveServers(servers('10.0.0.1,[::1]'), { timeoutMs: 1000, lookup });
    expect(lookup).not.toHaveBeenCalled();
  });

  it('puts each address first at times', async () => {
    const first = new Set<string>();
    for (let i = 0; i < 200; i += 1) {
      const [head] = await resolveServers(servers('10.0.0.1,10.0.0.2,10.0.0.3'), { timeoutMs: 1000 });
      first.add(head?.host ?? '');
    }
    expect(first.size).toBe(3);
  });

  it('does without a name that fails', async () => {
    const found = await resolveServers(servers('zk,gone'), { timeoutMs: 1000, lookup: table({ zk: ['10.0.0.1'] }) });
    expect(found).toEqual([{ host: '10.0.0.1', port: 2181, name: 'zk' }]);
  });

  it('waits a second for a name that hangs when it has another one', async () => {
    const begin = performance.now();
    const lookup = table({ zk: ['10.0.0.1'], slow: 'never' });
    const found = await resolveServers(servers('zk,slow'), { timeoutMs: 60_000, lookup });
    expect(found).toHaveLength(1);
    expect(performance.now() - begin).toBeLessThan(3000);
  });

  it('names every host and its cause when it has none', async () => {
    const lookup = table({ slow: 'never', empty: [] });
    const failed = resolveServers(servers('gone:1,slow:2,empty:3'), { timeoutMs: 50, lookup });
    await expect(failed).rejects.toThrow(NameResolutionError);
    await expect(failed).rejects.toThrow(
      'none of the servers gone:1, slow:2, empty:3 has an address (gone: ENOTFOUND; slow: no answer within 50 ms; empty: no address)',
    );
  });

  it('rejects with the reason of an abort, before and during', async () => {
    const reason = new Error('enough');
    const options = { timeoutMs: 60_000, lookup: table({ slow: 'never' }) };
    await expect(resolveServers(servers('slow'), { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const abort = new AbortController();
    const pending = resolveServers(servers('slow'), { ...options, signal: abort.signal });
    setTimeout(() => abort.abort(reason), 5);
    await expect(pending).rejects.toBe(reason);
  });

  it('uses the system resolver by default', async () => {
    const found = await resolveServers(servers('localhost:7'), { timeoutMs: 5000 });
    expect(['127.0.0.1:7', '[::1]:7']).toContain(formatServer(found[0] ?? { host: '', port: 0 }));
    const failed = resolveServers(servers('no-such-host.invalid'), { timeoutMs: 10_000 });
    await expect(failed).rejects.toThrow(/no-such-host\.invalid: E\w+/);
  });
});
