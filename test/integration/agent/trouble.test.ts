import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { EventReader } from './event-reader.js';
import { SidecarProcess } from './sidecar-process.js';

/* A sidecar that is killed, frozen, stopped, or cut off from ZooKeeper; and clients that go away or don't read. */

const T = 4_000;
const ARGS = ['--session-timeout', '4s'];

// Real processes on a machine that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 500, fsync: false });
});

afterAll(async () => {
  await ensemble?.close();
});

const start = async (args: readonly string[] = []) =>
  (await SidecarProcess.start(ensemble.connectString, { args: [...ARGS, ...args] })).ready();

describe('a sidecar', () => {
  it('that is killed takes its candidates with its session', async () => {
    const [killed, other] = await Promise.all([start(), start()]);
    const leader = await killed.join('killed', 'leader');
    await leader.until('leading');
    const next = await other.join('killed', 'next', { hold: 'ttl', ttlMs: 60_000 });
    await next.until('waiting');
    const at = monotonicMs();
    const { body: last } = await leader.get();
    await killed.kill();
    const led = await next.until('leading', 30_000);
    expect(led.previous).toMatchObject({ leaderId: 'leader', end: 'vanished' });
    // Its client may go on until its deadline: nobody may lead before that, and the session sees to it.
    expect(monotonicMs() - at).toBeGreaterThan(last.mayActMs);
    await other.kill();
  });

  it('that was frozen past its lease never answers that anybody leads', async () => {
    await using sidecar = await start();
    for (let round = 0; round < 3; round += 1) {
      const client = await sidecar.join('blocked', `c${round}`);
      const stream = await EventReader.open(`${sidecar.url}${client.events}`, { 'candidacy-key': client.key });
      const led = await client.until('leading');
      await stream.until('its term', ({ event, data }) => event === 'candidacy' && data.leading);
      sidecar.signal('SIGSTOP');
      // Asked for while it can't answer: the answers are written after the lease.
      const answers = [client.get(), client.put(), sidecar.ask('GET', '/v1/elections/blocked/leader')];
      const seen = stream.events.length;
      await sleep(T * 0.8);
      const thawedAt = monotonicMs();
      sidecar.signal('SIGCONT');
      for (const { body } of await Promise.all(answers)) {
        expect(body).toMatchObject({ leading: false, mayActMs: 0 });
        expect(body.state).not.toBe('leading');
      }
      const after = await client.until('lost');
      expect(after.leading).toBe(false);
      for (const { event, data } of stream.events.slice(seen)) {
        if (event === 'candidacy' && data.term === led.term) expect(data.leading).toBe(false);
      }
      expect(monotonicMs() - thawedAt).toBeLessThan(T);
      await client.leave();
      stream.close();
    }
  });

  it('that is told to stop has its leader finish, tells everybody, and announces the end', async () => {
    const [stopped, other] = await Promise.all([start(), start()]);
    const leader = await stopped.join('stopped', 'leader');
    await leader.until('leading');
    const waiter = await stopped.join('stopped', 'waiter', { hold: 'stream' });
    const stream = await EventReader.open(`${stopped.url}${waiter.events}`, { 'candidacy-key': waiter.key });
    await waiter.until('waiting');
    const next = await other.join('stopped', 'next', { hold: 'ttl', ttlMs: 60_000 });
    await next.until('waiting');
    stopped.signal('SIGTERM');
    expect(await leader.until('draining')).toMatchObject({ leading: false, mayActMs: 0, reason: 'closed' });
    await stream.until('its end', ({ event, data }) => event === 'end' && data.reason === 'shutdown');
    expect((await stopped.ask('GET', '/readyz')).status).toBe(503);
    const refused = await stopped.ask('PUT', '/v1/elections/late/candidacy', { body: { hold: 'ttl', ttlMs: 5_000 } });
    expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
    // The work goes on, and the lease with it.
    await sleep(500);
    expect((await next.get()).body.state).toBe('waiting');
    await leader.put({ settled: true });
    const led = await next.until('leading');
    expect(led.previous).toMatchObject({ leaderId: 'leader', end: 'resigned' });
    expect(await stopped.exited).toBe(0);
    expect(stopped.log).not.toMatch(/"level":(50|60)/);
    await other.kill();
  });

  it('that is told to stop waits for a silent leader no longer than it was told to, and announces nothing', async () => {
    const [stopped, other] = await Promise.all([start(['--drain-timeout', '1s']), start()]);
    const leader = await stopped.join('silent-stop', 'leader', { hold: 'ttl', ttlMs: 60_000 });
    await leader.until('leading');
    const next = await other.join('silent-stop', 'next', { hold: 'ttl', ttlMs: 60_000 });
    await next.until('waiting');
    stopped.signal('SIGTERM');
    expect(await stopped.exited).toBe(0);
    expect((await next.until('leading')).previous).toMatchObject({ leaderId: 'leader', end: 'vanished' });
    await other.kill();
  });
});

describe('clients', () => {
  it('a thousand streams at once are served; one more is refused until one is closed', async () => {
    await using sidecar = await start();
    const client = await sidecar.join('crowd', 'one');
    await client.until('leading');
    const url = `${sidecar.url}/v1/elections/crowd/events`;
    const streams: EventReader[] = [];
    for (let i = 0; i < 1_000; i += 50) {
      streams.push(...(await Promise.all(Array.from({ length: 50 }, () => EventReader.open(url)))));
    }
    await expect(EventReader.open(url)).rejects.toThrow('503');
    await Promise.all(streams.map((stream) => stream.until('the leader', ({ data }) => data.leader?.id === 'one')));
    expect((await client.put()).body.leading).toBe(true);
    await client.leave();
    await Promise.all(streams.map((stream) => stream.until('the end', ({ data }) => data.state === 'vacant')));
    streams.pop()?.close();
    const again = await waitFor(() => EventReader.open(url).catch(() => false as const), {
      what: 'a place',
      intervalMs: 100,
    });
    for (const stream of [...streams, again]) stream.close();
    await waitFor(async () => (await sidecar.ask('GET', '/v1/status')).status === 200, { what: 'an answer' });
    expect(sidecar.log).not.toMatch(/MaxListeners|"level":(50|60)/);
  });

  it('one that reads nothing is dropped, and holds nobody up', async () => {
    await using sidecar = await start(['--max-streams', '2']);
    const url = `${sidecar.url}/v1/elections/slow/events`;
    const slow = await EventReader.open(url);
    const reads = await EventReader.open(url);
    slow.pause();
    // A queue of long names: views that fill the buffers of the system soon.
    const name = (i: number) => `${i}-`.padEnd(250, 'x');
    let joined = 0;
    await waitFor(
      async () => {
        joined += 1;
        await sidecar.join('slow', name(joined), { hold: 'ttl', ttlMs: 600_000 });
        return EventReader.open(url).catch(() => false as const);
      },
      // So few a second that it is dropped before there are more candidates than may be.
      { what: 'the slow one to be dropped', timeoutMs: 120_000, intervalMs: 20 },
    );
    expect(reads.closed).toBe(false);
    await reads.until('the newest', ({ data }) => data.candidates.length === joined);
    reads.close();
  });

  it('that go away in the middle of their streams are forgotten', async () => {
    await using sidecar = await start(['--max-streams', '20']);
    for (let round = 0; round < 5; round += 1) {
      const streams = await waitFor(
        () =>
          Promise.all(
            Array.from({ length: 20 }, () => EventReader.open(`${sidecar.url}/v1/elections/gone/events`)),
          ).catch(() => false as const),
        { what: 'twenty places', intervalMs: 200 },
      );
      for (const stream of streams) stream.close();
    }
    expect(sidecar.log).not.toMatch(/"level":(50|60)/);
  });
});

describe('without ZooKeeper', () => {
  it('a sidecar starts, refuses to join for now, and recovers', async () => {
    const alone = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
    const [server] = alone.servers;
    await server?.kill();
    await using sidecar = await SidecarProcess.start(alone.connectString, {
      args: [...ARGS, '--connect-timeout', '2s'],
    });
    const path = '/v1/elections/away/candidacy?id=one';
    const body = { hold: 'ttl', ttlMs: 60_000 };
    const refused = await sidecar.ask('PUT', path, { body });
    expect(refused).toMatchObject({ status: 503, body: { code: 'zookeeper_away' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await sidecar.ask('GET', '/readyz')).status).toBe(503);
    expect((await sidecar.ask('GET', '/healthz')).status).toBe(200);
    const unseen = await sidecar.ask('GET', '/v1/elections/away');
    expect(unseen).toMatchObject({ status: 503, body: { code: 'zookeeper_away' } });
    expect(Number(unseen.headers.get('retry-after'))).toBeGreaterThan(0);

    await server?.start();
    await sidecar.ready();
    const client = await sidecar.join('away', 'one', body);
    const led = await client.until('leading');

    await server?.kill();
    // Within the lease it turns suspect, then lost; the candidacy is still the client's.
    await client.until('suspect');
    expect(await client.until('lost')).toMatchObject({ leading: false, term: null });
    expect((await client.put({ settled: true })).status).toBe(200);
    expect((await sidecar.ask('PUT', '/v1/elections/away/candidacy?id=two', { body })).status).toBe(503);
    await server?.start();
    const again = await client.until('leading', 40_000);
    expect(again.term).toBeGreaterThan(led.term);
    expect(BigInt(again.token)).toBeGreaterThan(BigInt(led.token));
    await alone.close();
  });
});
