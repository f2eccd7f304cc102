import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { connect, type Election, type Tenure } from '../../../src/index.js';
import { Contender, type ContenderOptions } from '../../support/contender.js';
import { Operator } from '../../support/operator.js';

/* What operators do to an election, on a real server: pause, resume, transfer, evict, remove, and what is written down. */

const T = 4_000;
const order = { by: 'ada', reason: 'a test' };

let ensemble: Ensemble;
let shell: Operator;
let ops: Tenure;
const entered: Contender[] = [];
let names = 0;

beforeAll(async () => {
  ensemble = await startEnsemble({ fsync: false });
  shell = await Operator.at(ensemble.connectString);
  ops = await connect({ servers: ensemble.connectString });
});

afterEach(async () => {
  await Promise.all(entered.splice(0).map((contender) => contender.stop()));
});

afterAll(async () => {
  await ops?.close();
  await shell?.close();
  await ensemble?.close();
});

function fresh(): { name: string; election: Election } {
  const name = `control-${++names}`;
  return { name, election: ops.election(name) };
}

async function enter(name: string, id: string, options: ContenderOptions = {}): Promise<Contender> {
  const contender = await Contender.enter(ensemble.connectString, name, id, { sessionTimeoutMs: T, ...options });
  entered.push(contender);
  await contender.joined();
  return contender;
}

/** In this order in the queue. */
async function fleet(name: string, ...ids: string[]): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (const id of ids) contenders.push(await enter(name, id));
  await contenders[0]?.leading();
  return contenders;
}

it('a pause drains the leader, survives everything, and ends with a resume', async () => {
  const { name, election } = fresh();
  const [a, b] = (await fleet(name, 'a', 'b')) as [Contender, Contender];
  const first = await a.leading();
  const pause = await election.pause(order);
  expect(pause).toMatchObject(order);
  expect(await a.lost(first)).toBe('paused');
  expect((first.signal.reason as Error).message).toContain('by ada: a test');
  // It has joined again behind b, and nobody claims: not even who comes anew.
  await a.joined(2);
  const c = await enter(name, 'c');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect([a, b, c].map(({ leads }) => leads)).toEqual([false, false, false]);
  const view = await election.current();
  expect(view).toMatchObject({ state: 'paused', paused: pause, leader: null });
  await expect(election.pause(order)).rejects.toMatchObject({ code: 'ALREADY_PAUSED' });
  await expect(election.transfer({ ...order, to: 'c' })).rejects.toMatchObject({ code: 'TRANSFER_REFUSED' });
  await election.resume({ by: 'bob', reason: 'over' });
  expect((await b.leading()).previous).toMatchObject({ term: 1, end: 'paused' });
  await expect(election.resume(order)).rejects.toMatchObject({ code: 'NOT_PAUSED' });
});

it('a transfer in a chain: everybody before the target joins again behind it, with new tokens', async () => {
  const { name, election } = fresh();
  const [a, b, c, d] = (await fleet(name, 'a', 'b', 'c', 'd')) as [Contender, Contender, Contender, Contender];
  const term = await a.leading();
  const before = (await shell.queue(name)).map(({ node }) => node);
  const transfer = await election.transfer({ ...order, to: 'd', deadlineMs: 20_000 });
  expect(transfer.to).toBe(before[3]);
  expect(await a.lost(term)).toBe('transferred');
  const taken = await d.leading(1);
  expect(taken.previous).toMatchObject({ term: 1, leaderId: 'a', end: 'transferred' });
  expect(taken.number).toBe(2);
  expect([b, c].flatMap(({ terms }) => terms)).toEqual([]);
  const after = await shell.queueOf(name, 4);
  expect(after[0]?.node).toBe(before[3]);
  expect(after.slice(1).every(({ node }) => !before.includes(node))).toBe(true);
  expect(await shell.record(name)).toMatchObject({ transfer: null });
});

it('a transfer whose target leaves is void: the next one leads', async () => {
  const { name, election } = fresh();
  const [a] = (await fleet(name, 'a')) as [Contender];
  let finish = (): void => {};
  const term = await a.leading();
  // The leader takes its time to drain; the target is gone when it has.
  const slow = await enter(name, 'slow', { work: () => new Promise<void>((resolve) => (finish = resolve)) });
  await election.transfer({ ...order, to: 'slow' });
  await a.lost(term);
  const held = await slow.leading(1);
  const target = await enter(name, 'target');
  await election.transfer({ ...order, to: 'target' });
  expect(await slow.lost(held)).toBe('transferred');
  await target.stop();
  finish();
  expect((await a.leading(2)).previous).toMatchObject({ leaderId: 'slow', end: 'transferred' });
  expect(await shell.record(name)).toMatchObject({ transfer: null });
});

it('a leader strikes out a transfer to somebody who has left, and goes on', async () => {
  const { name, election } = fresh();
  const [a] = (await fleet(name, 'a')) as [Contender];
  const term = await a.leading();
  const record = await shell.record(name);
  const transfer = { to: '_c_gone-lock-0000009999', ...order, at: new Date().toISOString() };
  const deadline = new Date(Date.now() + 60_000).toISOString();
  const data = Buffer.from(JSON.stringify({ ...record, transfer: { ...transfer, deadline } }));
  await shell.session.write(shell.termPath(name), data, -1);
  await waitFor(async () => (await shell.record(name))?.['transfer'] === null, {
    what: 'the transfer to be struck out',
  });
  expect(term.state).toBe('leading');
  expect((await election.current()).leader?.id).toBe('a');
});

it('the last of two transfers wins, and a pause overtakes both', async () => {
  const { name, election } = fresh();
  let finish = (): void => {};
  const a = await enter(name, 'a', { work: () => new Promise<void>((resolve) => (finish = resolve)) });
  const term = await a.leading();
  const [b, c] = [await enter(name, 'b'), await enter(name, 'c')];
  await election.transfer({ ...order, to: 'b' });
  await election.transfer({ ...order, to: 'c' });
  expect(await a.lost(term)).toBe('transferred');
  expect(await shell.record(name)).toMatchObject({ transfer: { to: (await shell.queue(name))[2]?.node } });
  await election.pause(order);
  finish();
  await a.joined(2);
  expect([b, c].map(({ leads }) => leads)).toEqual([false, false]);
  expect(await shell.record(name)).toMatchObject({ transfer: null });
  await election.resume(order);
  await b.leading(1);
});

it('refuses what makes no sense, and says why', async () => {
  const { name, election } = fresh();
  await expect(election.pause(order)).rejects.toMatchObject({ code: 'UNKNOWN_ELECTION' });
  await expect(election.history()).rejects.toMatchObject({ code: 'UNKNOWN_ELECTION' });
  await expect(ops.remove(name)).rejects.toMatchObject({ code: 'UNKNOWN_ELECTION' });
  await fleet(name, 'a', 'twin', 'twin');
  for (const bad of [
    { by: 'ada', reason: ' ' },
    { by: '', reason: 'x' },
    { by: 'a\nb', reason: 'x' },
  ]) {
    await expect(election.pause(bad)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  }
  await expect(election.pause({ ...order, reason: 'x'.repeat(501) })).rejects.toThrow(/500 characters/);
  await expect(election.transfer({ ...order, to: 'nobody' })).rejects.toMatchObject({ code: 'UNKNOWN_CANDIDATE' });
  await expect(election.evict({ ...order, node: 'nobody' })).rejects.toThrow(/in the queue stand a, twin, twin/);
  await expect(election.transfer({ ...order, to: 'twin' })).rejects.toMatchObject({ code: 'AMBIGUOUS_CANDIDATE' });
  await expect(election.transfer({ ...order, to: 'a' })).rejects.toThrow(/leads .* already/);
  await expect(ops.remove(name)).rejects.toMatchObject({ code: 'ELECTION_IN_USE' });
  // @ts-expect-error: in JavaScript nothing else would tell.
  await expect(election.pause({ ...order, force: true })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
});

it('refuses a transfer to one more than 16 places back', async () => {
  const { name, election } = fresh();
  const tenure = await connect({ servers: ensemble.connectString });
  const stop = new AbortController();
  const all = Array.from({ length: 18 }, (_, i) =>
    tenure
      .election(name, { id: `w${i}` })
      .campaign({ signal: stop.signal })
      .catch(() => null),
  );
  const queue = await shell.queueOf(name, 18);
  const view = await election.current();
  expect(view.candidates).toHaveLength(18);
  await expect(election.transfer({ ...order, to: queue[17]?.node ?? '' })).rejects.toThrow(/stands 17 places back/);
  await election.transfer({ ...order, to: queue[16]?.node ?? '' });
  stop.abort();
  const term = (await Promise.all(all)).find((each) => each !== null);
  await term?.resign();
  await tenure.close();
});

it('an evicted leader loses its term at once; leases never overlap, and the record says how it ended', async () => {
  const { name, election } = fresh();
  const [a, b] = (await fleet(name, 'a', 'b')) as [Contender, Contender];
  const term = await a.leading();
  const evicted = await election.evict({ ...order, node: 'a' });
  expect(evicted).toMatchObject({ id: 'a', led: true });
  expect(['superseded', 'node_gone']).toContain(await a.lost(term));
  const next = await b.leading(1);
  expect(next.previous).toMatchObject({ term: 1, end: 'evicted' });
  const [last, first] = [a.book.all[0]?.last ?? 0, b.book.all[0]?.first ?? 0];
  // The successor has outlasted the lease, though the end was on record.
  expect(first - last).toBeGreaterThan(1_000);
  expect(b.count('patient')).toBe(1);
});

it('evicts a candidate of another library, and one of Tenure joins again at the end', async () => {
  const { name, election } = fresh();
  const [a, b] = (await fleet(name, 'a', 'b')) as [Contender, Contender];
  await shell.session.create(`${shell.queuePath(name)}/n-`, Buffer.from('kazoo'), 'ephemeral_sequential');
  const c = await enter(name, 'c');
  await expect(election.transfer({ ...order, to: 'c' })).rejects.toThrow(/another library/);
  expect(await election.evict({ ...order, node: 'kazoo' })).toMatchObject({ id: 'kazoo', led: false });
  expect(await election.evict({ ...order, node: 'b' })).toMatchObject({ id: 'b', led: false });
  await b.joined(2);
  await election.transfer({ ...order, to: 'c' });
  await c.leading(1);
  expect(a.count('elected')).toBe(1);
});

it('the history tells each term and each change, oldest first', async () => {
  const { name, election } = fresh();
  const [a, b] = (await fleet(name, 'a', 'b')) as [Contender, Contender];
  await election.pause({ by: 'ada', reason: 'drill' });
  await a.joined(2);
  await election.resume({ by: 'bob', reason: 'done' });
  const second = await b.leading(1);
  await election.transfer({ ...order, to: 'a' });
  await b.lost(second);
  await a.leading(2);
  await a.stop();
  entered.splice(entered.indexOf(a), 1);
  await b.leading(2);
  const told = await waitFor(
    async () => {
      const entries = await election.history();
      const third = entries.find((entry) => entry.kind === 'term' && entry.term === 3);
      return third?.kind === 'term' && third.from !== null && entries;
    },
    { what: 'the third term in the history' },
  );
  expect(
    told.map((entry) => (entry.kind === 'term' ? `${entry.leaderId} ${entry.how}` : `${entry.change} ${entry.by}`)),
  ).toEqual(['pause ada', 'a paused', 'resume bob', 'transfer ada', 'b transferred', 'a resigned']);
  const terms = told.filter((entry) => entry.kind === 'term');
  expect(terms.map(({ term }) => term)).toEqual([1, 2, 3]);
  for (const { from, to, leaderlessMs } of terms) {
    expect(Date.parse(to ?? '')).toBeGreaterThanOrEqual(Date.parse(from ?? ''));
    expect(leaderlessMs).toBeGreaterThanOrEqual(0);
  }
  // The fourth runs; when it has ended with nobody behind it, the record tells.
  const open = b.terms.at(-1);
  await b.stop();
  entered.splice(entered.indexOf(b), 1);
  expect((await election.history()).at(-1)).toMatchObject({ kind: 'term', token: open?.token, how: 'resigned' });
});

it('the history keeps fifty entries, and writers at the same time lose none of theirs', async () => {
  const { name, election } = fresh();
  await fleet(name, 'a');
  const others = await Promise.all([1, 2, 3].map(() => connect({ servers: ensemble.connectString })));
  const made: { at: string; by: string }[] = [];
  const pausing = async (tenure: Tenure, by: string) => {
    const mine = tenure.election(name);
    for (let round = 0; round < 40; round++) {
      await mine.pause({ by, reason: `round ${round}` }).then(
        (pause) => made.push(pause),
        () => {},
      );
      await mine.resume({ by, reason: `round ${round}` }).catch(() => {});
    }
  };
  await Promise.all(others.map((tenure, i) => pausing(tenure, `op${i}`)));
  await Promise.all(others.map((tenure) => tenure.close()));
  const entries = await election.history();
  expect(entries).toHaveLength(50);
  const pauses = entries.flatMap((entry) => (entry.kind === 'control' && entry.change === 'pause' ? [entry] : []));
  expect(made.length).toBeGreaterThan(20);
  for (const pause of made.toSorted((x, y) => (x.at < y.at ? -1 : 1)).slice(-8)) {
    expect(pauses).toContainEqual(expect.objectContaining({ at: pause.at, by: pause.by }));
  }
});

it('two operators at once: one pauses, the other is told of it', async () => {
  const { name } = fresh();
  await fleet(name, 'a');
  const other = await connect({ servers: ensemble.connectString });
  const both = await Promise.allSettled([
    ops.election(name).pause({ by: 'ada', reason: 'one' }),
    other.election(name).pause({ by: 'bob', reason: 'two' }),
  ]);
  const refused = both.filter((each) => each.status === 'rejected');
  expect(refused).toHaveLength(1);
  expect(refused[0]?.reason).toMatchObject({ code: 'ALREADY_PAUSED' });
  await other.close();
});

it('a dead election is removed with all that is below it, and others stay', async () => {
  const { name, election } = fresh();
  const nested = `${name}/deeper`;
  const a = await enter(name, 'a');
  await enter(nested, 'b');
  await a.leading();
  await election.raiseFloor({ ...order, to: 10n });
  await a.stop();
  entered.splice(entered.indexOf(a), 1);
  expect(await ops.remove(name)).toEqual({ term: 1, floor: 10n });
  expect(await ops.elections()).toContain(nested);
  expect(await ops.elections()).not.toContain(name);
  expect((await shell.session.children(`/tenure/${name}`))?.names).toEqual(['deeper']);
});

it('a removal outlasts the lease of a leader whose end nobody announced', async () => {
  const { name, election } = fresh();
  const [a] = (await fleet(name, 'a')) as [Contender];
  const term = await a.leading();
  await expect(ops.remove(name)).rejects.toMatchObject({ code: 'ELECTION_IN_USE' });
  // Its worker never returns; it is evicted, and doesn't come back while it still works.
  const stubborn = await enter(`${name}/s`, 's', {
    work: () => new Promise(() => {}),
    election: { drainTimeoutMs: 1 },
  });
  await stubborn.leading();
  await ops.election(`${name}/s`).evict({ ...order, node: 's' });
  const began = performance.now();
  await ops.remove(`${name}/s`);
  expect(performance.now() - began).toBeGreaterThan((T * 2) / 3);
  expect(term.state).toBe('leading');
  expect((await election.current()).leader?.id).toBe('a');
  entered.splice(entered.indexOf(stubborn), 1);
  await stubborn.tenure.close();
});
