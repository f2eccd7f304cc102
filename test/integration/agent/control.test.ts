import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { EventReader } from './event-reader.js';
import { type Client, SidecarProcess } from './sidecar-process.js';

/* The operator's hand, over HTTP; and the stream of all elections. */

const TTL = { hold: 'ttl', ttlMs: 60_000 };

// Real processes on a machine that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let ensemble: Ensemble;
let sidecar: SidecarProcess;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  sidecar = await (await SidecarProcess.start(ensemble.connectString, { args: ['--observe', 'watched'] })).ready();
});

afterAll(async () => {
  await sidecar?.kill();
  await ensemble?.close();
});

const order = (by: string, reason: string, more: object = {}) => ({ body: { by, reason, ...more } });

describe('an operator', () => {
  it('pauses, has the leader finish, and resumes', async () => {
    const client = await sidecar.join('paused', 'one', TTL);
    const led = await client.until('leading');
    const paused = await sidecar.ask('POST', '/v1/elections/paused/pause', order('ann', 'the ledger is wrong'));
    expect(paused).toMatchObject({ status: 200, body: { paused: { by: 'ann', reason: 'the ledger is wrong' } } });
    expect(await client.until('draining')).toMatchObject({
      leading: false,
      mayActMs: 0,
      reason: 'paused',
      term: led.term,
    });
    await client.put({ settled: true });
    const waits = await waitFor(
      async () => {
        const { body } = await client.get();
        return body.reason === 'paused' && body.state === 'waiting' && body;
      },
      { what: 'the candidate to wait for the end of the pause' },
    );
    expect(waits).toMatchObject({ leading: false, position: 0 });
    expect((await sidecar.ask('GET', '/v1/elections/paused')).body).toMatchObject({
      state: 'paused',
      paused: { by: 'ann' },
    });
    const twice = await sidecar.ask('POST', '/v1/elections/paused/pause', order('bob', 'me too'));
    expect(twice).toMatchObject({ status: 409, body: { code: 'already_paused' } });
    expect((await sidecar.ask('POST', '/v1/elections/paused/resume', { body: { by: 'ann' } })).body).toEqual({
      paused: null,
    });
    const again = await client.until('leading');
    expect(again).toMatchObject({ term: led.term + 1, previous: { end: 'paused' } });
    expect((await sidecar.ask('POST', '/v1/elections/paused/resume', { body: { by: 'ann' } })).body.code).toBe(
      'not_paused',
    );

    const { body } = await waitFor(
      async () => {
        const answer = await sidecar.ask('GET', '/v1/elections/paused/history');
        return answer.body.entries.length >= 3 && answer;
      },
      { what: 'the history' },
    );
    // In the order in which they were written: a term's end may be written behind what came after it.
    const written = [
      { kind: 'control', change: 'pause', by: 'ann', reason: 'the ledger is wrong' },
      { kind: 'control', change: 'resume', by: 'ann' },
      { kind: 'term', term: 1, token: led.token, leaderId: 'one', how: 'paused' },
    ];
    expect(body.entries).toHaveLength(written.length);
    for (const entry of written) expect(body.entries).toContainEqual(expect.objectContaining(entry));
    await client.leave();
  });

  it('transfers to a candidate by its id, and is told where that can’t be', async () => {
    const clients = await sidecar.line('moved', ['one', 'two', 'three'], TTL);
    const [one, , three] = clients as [Client, Client, Client];
    const post = (more: object) =>
      sidecar.ask('POST', '/v1/elections/moved/transfer', order('ann', 'rack 7 goes down', more));
    expect(await post({ to: 'nobody' })).toMatchObject({ status: 404, body: { code: 'unknown_candidate' } });
    expect(await post({ to: 'one' })).toMatchObject({ status: 409, body: { code: 'transfer_refused' } });
    expect((await post({ to: 'three', deadlineMs: 20_000 })).body.transfer).toMatchObject({ by: 'ann' });
    expect(await one.until('draining')).toMatchObject({ reason: 'transferred' });
    await one.put({ settled: true });
    expect(await three.until('leading')).toMatchObject({ term: 2, previous: { leaderId: 'one', end: 'transferred' } });
    for (const client of clients) await client.leave();
  });

  it('has to say who and why, of an election that there is', async () => {
    for (const body of [
      {},
      { by: 'ann' },
      { by: 'ann', reason: ' ' },
      { by: '', reason: 'x' },
      { by: 'ann', reason: 'x', force: true },
    ]) {
      const refused = await sidecar.ask('POST', '/v1/elections/paused/pause', { body });
      expect(refused, JSON.stringify(body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
    const unknown = await sidecar.ask('POST', '/v1/elections/unheard-of/pause', order('ann', 'why not'));
    expect(unknown).toMatchObject({ status: 404, body: { code: 'unknown_election' } });
    expect((await sidecar.ask('GET', '/v1/elections/unheard-of/history')).status).toBe(404);
    expect((await sidecar.ask('POST', '/v1/elections/unheard-of/history')).status).toBe(405);
  });

  it('holds all candidates of a sidecar, without a word to ZooKeeper, and lets them go', async () => {
    const client = await sidecar.join('held', 'one', { ...TTL, hold: 'ttl' });
    await client.until('leading');
    const stream = await EventReader.open(`${sidecar.url}/v1/events`);
    expect((await sidecar.ask('POST', '/v1/hold', { body: { reason: 'drain this host' } })).body).toEqual({
      held: 'drain this host',
    });
    expect(await client.until('draining')).toMatchObject({ reason: 'held' });
    await client.put({ settled: true });
    expect(await client.until('held')).toMatchObject({ leading: false, position: null, term: null });
    await stream.until(
      'the hold in the status',
      ({ event, data }) => event === 'status' && data.held === 'drain this host',
    );
    await waitFor(async () => (await sidecar.ask('GET', '/v1/elections/held')).body.candidates.length === 0, {
      what: 'it to leave the queue',
    });
    expect((await sidecar.ask('DELETE', '/v1/hold')).body).toEqual({ held: null });
    await client.until('leading');
    stream.close();
    await client.leave();
  });
});

describe('the stream of all elections', () => {
  it('shows every row, then what changes, and what has gone', async () => {
    const client = await sidecar.join('rows', 'one', TTL);
    await client.until('leading');
    const stream = await EventReader.open(`${sidecar.url}/v1/events`);
    const rows = () => stream.of('elections').flatMap(({ data }) => data.rows);
    const row = await waitFor(
      () => rows().find(({ election, state }) => election === 'rows' && state === 'led') ?? false,
      { what: 'its row' },
    );
    expect(row).toMatchObject({
      leader: { id: 'one' },
      term: 1,
      candidates: 1,
      own: [{ id: 'one', state: 'leading', position: 0 }],
    });
    expect(rows().map(({ election }) => election)).toContain('watched');
    await stream.until('what is left of the lease', ({ event, data }) => event === 'leases' && data.mostMs > 0);
    await stream.until('the quorum', ({ event, data }) => event === 'status' && data.quorum?.ok === true);
    await client.leave();
    await stream.until('its end', ({ event, data }) => event === 'elections' && data.gone.includes('rows'));
    stream.close();
  });
});
