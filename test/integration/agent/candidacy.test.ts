import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { Operator } from '../../support/operator.js';
import { EventReader } from './event-reader.js';
import { SidecarProcess } from './sidecar-process.js';

/* What a client of the sidecar gets and loses: a place in the queue, a deadline, a term. */

// Real processes on a machine that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let ensemble: Ensemble;
let sidecar: SidecarProcess;
let other: SidecarProcess;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 500, fsync: false });
  [sidecar, other] = (await Promise.all(
    [1, 2].map(async () =>
      (await SidecarProcess.start(ensemble.connectString, { args: ['--session-timeout', '4s'] })).ready(),
    ),
  )) as [SidecarProcess, SidecarProcess];
});

afterAll(async () => {
  await Promise.all([sidecar?.kill(), other?.kill()]);
  await ensemble?.close();
});

describe('a candidacy', () => {
  it('joins, leads with a token and a deadline, and hands over within milliseconds of DELETE', async () => {
    const first = await sidecar.join('pay/tenant-7', 'first', { hold: 'ttl', ttlMs: 20_000, metadata: { zone: 'a' } });
    const led = await first.until('leading');
    expect(led).toMatchObject({
      election: 'pay/tenant-7',
      id: 'first',
      leading: true,
      term: 1,
      position: 0,
      reason: null,
    });
    expect(led.token).toMatch(/^[1-9][0-9]*$/);
    expect(led.mayActMs).toBeGreaterThan(0);
    expect(led.mayActMs).toBeLessThanOrEqual(2_000);

    const second = await other.join('pay/tenant-7', 'second', { hold: 'stream' });
    const stream = await EventReader.open(`${other.url}${second.events}`, { 'candidacy-key': second.key });
    await stream.until('a place', ({ event, data }) => event === 'candidacy' && data.state === 'waiting');
    const waits = await second.get();
    expect(waits.body).toMatchObject({ leading: false, term: null, token: null, mayActMs: 0, position: 1 });
    const seen = await sidecar.ask('GET', '/v1/elections/pay%2Ftenant-7');
    expect(seen.body).toMatchObject({ state: 'led', leader: { id: 'first', metadata: { zone: 'a' }, foreign: false } });
    expect(seen.body.candidates.map(({ id }: { id: string }) => id)).toEqual(['first', 'second']);

    expect((await first.leave()).status).toBe(204);
    const leads = await stream.until('the second to lead', ({ event, data }) => event === 'candidacy' && data.leading);
    expect(leads.data).toMatchObject({
      term: 2,
      previous: { term: 1, token: led.token, leaderId: 'first', end: 'resigned' },
    });
    expect(BigInt(leads.data.token)).toBeGreaterThan(BigInt(led.token));
    expect((await first.leave()).status).toBe(204);
    expect((await first.get()).status).toBe(404);
    await second.leave();
    expect(await stream.until('its end', ({ event }) => event === 'end')).toMatchObject({
      data: { reason: 'resigned' },
    });
    await waitFor(() => stream.closed, { what: 'the stream to be closed' });
  });

  it('belongs to whoever has its key', async () => {
    const client = await sidecar.join('keys', 'one');
    for (const [method, key] of [
      ['PUT', undefined],
      ['PUT', 'wrong'],
      ['GET', undefined],
      ['DELETE', undefined],
      ['DELETE', 'wrong'],
    ] as const) {
      const refused = await sidecar.ask(method, client.path, {
        ...(key === undefined ? {} : { key }),
        ...(method === 'PUT' ? { body: { hold: 'ttl', ttlMs: 1_000 } } : {}),
      });
      expect(refused, `${method} ${key}`).toMatchObject({ status: 409, body: { code: 'candidacy_taken' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(15);
      expect(JSON.stringify(refused.body)).not.toContain(client.key);
    }
    expect((await client.put()).status).toBe(200);
    await client.leave();
    expect(await client.put({ hold: 'ttl', ttlMs: 5_000 })).toMatchObject({
      status: 404,
      body: { code: 'no_candidacy' },
    });
  });

  it('of a client that asks no more ends when its time to live and its last deadline are over', async () => {
    const silent = await sidecar.join('silent', 'silent', { hold: 'ttl', ttlMs: 5_000 });
    await silent.until('leading');
    const next = await other.join('silent', 'next');
    await silent.put({ ttlMs: 1_000 });
    const at = monotonicMs();
    const last = await silent.get();
    await next.until('leading');
    // By the margin for clocks later than the deadline, and long before the session or the lease.
    expect(monotonicMs() - at).toBeGreaterThanOrEqual(last.body.mayActMs);
    expect(await silent.get()).toMatchObject({ status: 404 });
    expect((await next.get()).body.previous).toMatchObject({ leaderId: 'silent', end: 'resigned' });
    await next.leave();
  });

  it('that is held by a stream goes with it, once the last deadline is over, and survives a stream that is opened again', async () => {
    const client = await sidecar.join('streamed', 'one', { hold: 'stream' });
    const open = () => EventReader.open(`${sidecar.url}${client.events}`, { 'candidacy-key': client.key });
    const first = await open();
    await first.until('a term', ({ event, data }) => event === 'candidacy' && data.leading);
    await client.get();
    first.close();
    await sleep(500);
    const again = await open();
    await sleep(3_000);
    const at = monotonicMs();
    const { body } = await client.get();
    expect(body).toMatchObject({ leading: true, term: 1 });
    again.close();
    await waitFor(async () => (await sidecar.ask('GET', '/v1/elections/streamed')).body.state === 'vacant', {
      what: 'its end',
    });
    expect(monotonicMs() - at).toBeGreaterThanOrEqual(body.mayActMs);
    expect((await client.get()).status).toBe(404);
  });

  it('that is held by a stream which is never opened ends by itself', async () => {
    const client = await sidecar.join('unopened', 'one', { hold: 'stream' });
    expect((await client.get()).status).toBe(200);
    await waitFor(async () => (await client.get()).status === 404, {
      what: 'its end',
      intervalMs: 200,
    });
  });

  it('of a leader that is frozen ends although its stream is open', async () => {
    const frozen = await sidecar.join('frozen', 'frozen', { hold: 'stream' });
    const stream = await EventReader.open(`${sidecar.url}${frozen.events}`, { 'candidacy-key': frozen.key });
    await frozen.until('leading');
    const next = await other.join('frozen', 'next', { hold: 'ttl', ttlMs: 60_000 });
    await next.until('leading', 25_000);
    const end = await waitFor(() => stream.of('end')[0], { what: 'the end of the stream' });
    expect(end.data).toEqual({ reason: 'expired' });
    await next.leave();
  });

  it('joins again only when the client has said that it has settled', async () => {
    const client = await sidecar.join('settled', 'one');
    const led = await client.until('leading');
    const second = await other.join('settled', 'two');
    await second.until('waiting');
    // Word that means nothing while it leads.
    expect((await client.put({ settled: true })).body).toMatchObject({ leading: true, term: led.term });
    // Its node is taken away under it.
    const operator = await Operator.at(ensemble.connectString);
    const node = (await operator.queue('settled'))[0]?.node as string;
    await operator.remove(`${operator.queuePath('settled')}/${node}`);
    const lost = await client.until('lost');
    expect(lost).toMatchObject({ leading: false, term: null, token: null, mayActMs: 0, reason: 'node_gone' });
    await second.until('leading');
    expect((await operator.queue('settled')).length).toBe(1);
    await client.put({ settled: true });
    await client.until('waiting');
    expect((await operator.queue('settled')).length).toBe(2);
    await operator.close();
    await Promise.all([client.leave(), second.leave()]);
  });

  it('of two clients that want one id at once goes to one of them', async () => {
    const path = '/v1/elections/one-id/candidacy?id=same';
    const body = { hold: 'ttl', ttlMs: 5_000 };
    const answers = await Promise.all(Array.from({ length: 10 }, () => sidecar.ask('PUT', path, { body })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    const winner = answers.find(({ status }) => status === 201);
    await sidecar.ask('DELETE', path, { key: winner?.body.key });
  });

  it('of one id at two sidecars are two candidates, of which one leads', async () => {
    const here = await sidecar.join('two-sidecars', 'same');
    const led = await here.until('leading');
    const there = await other.join('two-sidecars', 'same');
    expect(await there.until('waiting')).toMatchObject({ position: 1 });
    const leads = async (of: SidecarProcess) =>
      (await of.ask('GET', '/v1/elections/two-sidecars/leader?id=same')).status;
    expect([await leads(sidecar), await leads(other)]).toEqual([200, 503]);
    await here.leave();
    const next = await there.until('leading');
    expect(BigInt(next.token)).toBeGreaterThan(BigInt(led.token));
    expect([await leads(sidecar), await leads(other)]).toEqual([503, 200]);
    await there.leave();
  });
});

describe('a stream', () => {
  it('begins with the newest, beats, and repeats nothing that is known', async () => {
    const client = await sidecar.join('ids', 'one');
    await client.until('leading');
    const first = await EventReader.open(`${sidecar.url}/v1/elections/ids/events`);
    const view = await first.until('a view', ({ event, data }) => event === 'view' && data.state === 'led');
    expect(view.id).toMatch(/^[0-9a-f]+-\d+$/);
    await waitFor(() => first.comments >= 2, { what: 'two beats' });
    first.close();
    const newest = first.events.at(-1)?.id ?? '';
    const knows = await EventReader.open(`${sidecar.url}/v1/elections/ids/events`, { 'last-event-id': newest });
    const older = await EventReader.open(`${sidecar.url}/v1/elections/ids/events`, { 'last-event-id': 'ffff-1' });
    await older.until('the newest', ({ event, id }) => event === 'view' && id === newest);
    await waitFor(() => knows.comments >= 2, { what: 'two beats' });
    expect(knows.events).toEqual([]);
    await client.leave();
    await knows.until('what is new', ({ event, data }) => event === 'view' && data.state === 'vacant');
    older.close();
    knows.close();
  });

  it('tells its candidate at least once a second that it leads', async () => {
    const client = await sidecar.join('often', 'one', { hold: 'stream' });
    const stream = await EventReader.open(`${sidecar.url}${client.events}`, { 'candidacy-key': client.key });
    await client.until('leading');
    const before = stream.of('candidacy').length;
    await sleep(3_500);
    expect(stream.of('candidacy').length - before).toBeGreaterThanOrEqual(2);
    const versions = stream.of('candidacy').map(({ data }) => data.version);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    await client.leave();
    stream.close();
  });

  it('of a candidate needs its key', async () => {
    const client = await sidecar.join('secret', 'one');
    await expect(EventReader.open(`${sidecar.url}${client.events}`)).rejects.toThrow('409');
    await expect(EventReader.open(`${sidecar.url}/v1/elections/secret/events?id=two`)).rejects.toThrow('404');
    await client.leave();
  });
});
