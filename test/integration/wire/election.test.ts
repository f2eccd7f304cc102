import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';
import { writeClaim } from '../../../src/election/claiming.js';
import { electionPaths } from '../../../src/election/names.js';
import { connect } from '../../../src/index.js';
import { FaultyLine } from '../../../src/verify/faulty-line.js';
import { bytes, closeAll, open, refusal } from './support.js';

/** Operation codes. */
const MULTI = 14;
const SET_DATA = 5;
const DELETE = 2;

let ensemble: Ensemble;
let line: FaultyLine;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  const [server] = ensemble.servers;
  if (server === undefined) throw new Error('no server');
  line = await FaultyLine.to(server);
});

afterAll(async () => {
  await closeAll();
  await line?.close();
  await ensemble?.close();
});

describe('with transactions', () => {
  it('a claim for a candidate that has gone is never on record', async () => {
    const session = await open(ensemble.connectString);
    const paths = electionPaths('/tenure', 'claim');
    for (const path of ['/tenure', '/tenure/claim', paths.queue]) await session.create(path, bytes(''), 'persistent');
    const claim = (node: string, version: number, touch: Uint8Array | null = null) =>
      writeClaim(session, paths, node, bytes('record'), version, touch);
    expect(await refusal(claim('gone', -1))).toMatchObject({ kind: 'no_node', path: `${paths.queue}/gone` });
    expect(await session.stat(paths.term)).toBeNull();
    await session.create(`${paths.queue}/there`, bytes(''), 'ephemeral');
    await claim('there', -1);
    expect(await refusal(claim('there', -1))).toMatchObject({ kind: 'node_exists', path: paths.term });
    await session.remove(`${paths.queue}/there`);
    expect(await refusal(claim('there', 0))).toMatchObject({ kind: 'no_node' });
    expect(await refusal(claim('there', 0, bytes('touched')))).toMatchObject({ kind: 'no_node' });
    expect((await session.stat(paths.term))?.version).toBe(0);
  });

  it('a term is claimed by one request, and ended by one', async () => {
    await using tenure = await connect({ servers: line.address, driver: 'wire', sessionTimeoutMs: 4_000 });
    const count = (operation: number) => line.traffic().operations[operation] ?? 0;
    const term = await tenure.election('one').campaign();
    expect(count(MULTI)).toBe(1);
    const [writes, removals] = [count(SET_DATA), count(DELETE)];
    await term.resign();
    expect(count(MULTI)).toBe(2);
    expect(count(DELETE), 'the node went with the announcement').toBe(removals);
    // Renewals go on meanwhile; the record is written by none of these.
    expect(count(SET_DATA) - writes).toBeLessThan(10);
    const next = await tenure.election('one').campaign();
    expect(next.previous).toMatchObject({ end: 'resigned', term: term.number });
    await next.resign();
  });

  it('an end whose reply is lost is announced all the same, and leaves no node', async () => {
    await using tenure = await connect({ servers: line.address, driver: 'wire', sessionTimeoutMs: 4_000 });
    const term = await tenure.election('lost').campaign();
    const lost = line.loseReply(MULTI, '/lost/term');
    await Promise.all([term.resign(), lost]);
    const session = await open(ensemble.connectString);
    expect((await session.children('/tenure/lost/queue'))?.names).toEqual([]);
    const record = JSON.parse(Buffer.from((await session.read('/tenure/lost/term'))?.data ?? []).toString());
    expect(record.ended).toMatchObject({ how: 'resigned' });
  });

  it('an end goes on record although somebody has changed it since', async () => {
    await using tenure = await connect({ servers: line.address, driver: 'wire', sessionTimeoutMs: 4_000 });
    const session = await open(ensemble.connectString);
    const term = await tenure.election('changed').campaign();
    // Somebody else has changed the record: its version is not the one that the term knows.
    const { data } = (await session.read('/tenure/changed/term')) ?? { data: bytes('') };
    await session.write('/tenure/changed/term', data, -1);
    await term.resign();
    expect((await session.children('/tenure/changed/queue'))?.names).toEqual([]);
    const record = JSON.parse(Buffer.from((await session.read('/tenure/changed/term'))?.data ?? []).toString());
    expect(record.ended).toMatchObject({ how: 'resigned' });
  });
});
