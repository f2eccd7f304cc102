import { describe, expect, it } from 'vitest';
import { waitFor } from '../../../deploy/local/index.js';
import { connect } from '../../../src/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { ActBook } from '../../support/acts.js';
import { Contender, type ContenderOptions } from '../../support/contender.js';
import { site } from '../../support/site.js';

/*
 * Two leaders never at once, where nobody waits for a session to expire: nodes deleted by hand, and leaders that are the
 * last to hear of it. What is measured is what leaders would do, on one clock: when the one held its lease for the
 * last time, and the other for the first time.
 *
 * From the field: 5 (a tolerated disconnect restarts the timeout), 6 (the expiry is never seen), 7 (the own node deleted by
 * hand), 18 (the holder never told).
 */

const T = 2_000;
const LEASE = Math.floor((T * 2) / 3);

const here = site({ tickTime: 500, fsync: false });
let count = 0;

/** A leader behind a line that can fail, and a successor that has seen its renewals. */
async function pair(leaderOptions: ContenderOptions = {}) {
  count += 1;
  const name = `handover-${count}`;
  const book = new ActBook();
  const line = await here.lines.to(here.server);
  const leader = await Contender.enter(line.address, name, 'leader', { sessionTimeoutMs: T, book, ...leaderOptions });
  const term = await leader.leading();
  const successor = await Contender.enter(here.ensemble.connectString, name, 'successor', {
    sessionTimeoutMs: T,
    book,
  });
  await successor.joined();
  // Two renewals, so that the successor counts from one that it saw, and not from the vacancy.
  await sleep((T / 10) * 3);
  const node = (await here.operator.queue(name))[0]?.node as string;
  const end = async () => {
    await line.mend();
    await Promise.all([leader.stop(), successor.stop()]);
    await line.close();
    await here.operator.queueOf(name, 0);
  };
  return { name, line, book, leader, term, successor, node, end };
}

describe.concurrent("a leader's candidate node is deleted by hand, its session alive", () => {
  it('ends the term at once, and the successor has waited for the lease all the same', async () => {
    const { name, book, leader, term, successor, node, end } = await pair();
    const deletedAt = monotonicMs();
    await here.operator.remove(`${here.operator.queuePath(name)}/${node}`);
    expect(await leader.lost(term)).toBe('node_gone');
    expect(monotonicMs() - deletedAt).toBeLessThan(LEASE / 3);
    await successor.leading();
    expect(book.worstOverlapMs).toBeLessThan(0);
    expect(successor.count('patient')).toBe(1);
    // It stands in the queue again, behind, with a node of its present session.
    await leader.joined(2);
    const queue = await here.operator.queueOf(name, 2);
    expect(queue[1]?.owner).toBe(leader.tenure.session?.id);
    expect(queue.map((standing) => standing.node)).not.toContain(node);
    await end();
  });

  it('never has two leaders when the old one hears nothing any more', async () => {
    const { name, line, book, leader, term, successor, node, end } = await pair();
    await line.stall('replies');
    const deletedAt = monotonicMs();
    await here.operator.remove(`${here.operator.queuePath(name)}/${node}`);
    await successor.leading();
    const tookMs = monotonicMs() - deletedAt;
    expect(await leader.lost(term)).toBe('lease_expired');
    expect(book.worstOverlapMs).toBeLessThan(0);
    // It acted on after its node was gone, as it could not know: the lease is what the successor waited for.
    const [first] = book.all;
    expect((first?.last ?? 0) - deletedAt).toBeGreaterThan(LEASE / 4);
    expect(tookMs).toBeGreaterThan(LEASE / 2);
    await end();
  });

  it('never has two leaders when the last renewals are confirmed late', async () => {
    // The newest renewal is confirmed 0.2 T after it was sent and seen. A lease that counted from there would outlast the wait.
    const { name, line, book, leader, term, successor, node, end } = await pair();
    await line.delayReplies(0.2 * T);
    await sleep(T / 2);
    await line.stall('requests');
    await sleep(0.25 * T);
    await line.stall('replies');
    await here.operator.remove(`${here.operator.queuePath(name)}/${node}`);
    await successor.leading();
    expect(['lease_expired', 'node_gone']).toContain(await leader.lost(term));
    expect(book.worstOverlapMs).toBeLessThan(0);
    await end();
  });

  it('never has two leaders when the claim itself is confirmed late', async () => {
    count += 1;
    const name = `handover-${count}`;
    const book = new ActBook();
    const line = await here.lines.to(here.server);
    const options = { sessionTimeoutMs: T, book };
    await line.delayReplies(0.2 * T);
    const leader = await Contender.enter(line.address, name, 'leader', options);
    // From now on: without renewals it leads for a moment, which may be over before the successor has connected.
    const begun = waitFor(() => leader.term, { what: 'a term', intervalMs: 1 });
    await waitFor(async () => (await here.operator.record(name)) !== null, { what: 'a claim', intervalMs: 1 });
    // What the claim needs beside it is behind it on the line.
    await sleep(0.02 * T);
    await line.stall('requests');
    const successor = await Contender.enter(here.ensemble.connectString, name, 'successor', options);
    const term = await begun;
    await line.stall('replies');
    const [first] = await here.operator.queue(name);
    await here.operator.remove(`${here.operator.queuePath(name)}/${first?.node}`);
    await successor.leading();
    await leader.lost(term);
    expect(book.worstOverlapMs).toBeLessThan(0);
    await line.mend();
    await Promise.all([leader.stop(), successor.stop()]);
    await line.close();
  });

  it('never has two leaders when only the handshakes of new connections are answered', async () => {
    const { name, line, book, leader, term, successor, node, end } = await pair();
    await line.answerHandshakesOnly();
    await line.drop();
    await sleep(T / 8);
    await line.drop();
    await here.operator.remove(`${here.operator.queuePath(name)}/${node}`);
    await successor.leading();
    await leader.lost(term);
    expect(book.worstOverlapMs).toBeLessThan(0);
    await end();
  });
});

describe.concurrent("a leader's session node is deleted by hand", () => {
  it('ends the term at the next renewal, and the successor has waited for the lease', async () => {
    const { name, book, leader, term, successor, end } = await pair();
    const { session } = (await here.operator.record(name)) as { session: string };
    const deletedAt = monotonicMs();
    await here.operator.remove(`${here.operator.root}/sessions/${session}`);
    expect(await leader.lost(term)).toBe('session_node_gone');
    expect(monotonicMs() - deletedAt).toBeLessThan(LEASE);
    await successor.leading();
    expect(book.worstOverlapMs).toBeLessThan(0);
    // It joins again under a new session node, to which renewals can be written.
    await successor.stop();
    const again = await leader.leading(2);
    expect(((await here.operator.record(name)) as { session: string }).session).not.toBe(session);
    await sleep(LEASE * 1.5);
    expect(again.state).toBe('leading');
    await end();
  });

  it('never has two leaders when the old one hears nothing any more, and its candidate node goes too', async () => {
    const { name, line, book, leader, term, successor, node, end } = await pair();
    const { session } = (await here.operator.record(name)) as { session: string };
    await line.stall('replies');
    await here.operator.remove(`${here.operator.root}/sessions/${session}`);
    await here.operator.remove(`${here.operator.queuePath(name)}/${node}`);
    await successor.leading();
    await leader.lost(term);
    expect(book.worstOverlapMs).toBeLessThan(0);
    await end();
  });
});

describe.concurrent('a disconnected leader', () => {
  it('acts no longer than its lease from the sending of the last confirmed renewal, however often it reconnects', async () => {
    const { line, leader, term, book, end } = await pair();
    const confirmed = leader.lastConfirmedSentAt;
    await line.answerHandshakesOnly();
    await line.drop();
    const dropping = setInterval(() => void line.drop(), T / 8);
    await leader.lost(term);
    clearInterval(dropping);
    const [first] = book.all;
    expect((first?.last ?? 0) - Math.max(confirmed, leader.lastConfirmedSentAt)).toBeLessThanOrEqual(LEASE + 20);
    await end();
  });

  it('is suspect at once, keeps its session and its node over a short disconnect, and leads on', async () => {
    // A lease that the client's slowest reconnect, a third of T, doesn't use up.
    const { name, line, leader, term, node, end } = await pair({ sessionTimeoutMs: 8_000 });
    const session = leader.tenure.session?.id;
    for (let round = 1; round <= 3; round++) {
      await line.drop();
      await leader.leading(1);
      await waitFor(() => leader.count('suspect') >= round && term.state === 'leading', { what: 'doubt to pass' });
      expect(() => term.assert()).not.toThrow();
    }
    expect(leader.tenure.session?.id).toBe(session);
    expect((await here.operator.queue(name))[0]?.node).toBe(node);
    expect(leader.terms).toHaveLength(1);
    await end();
  });

  it('whose claim is confirmed when its lease is over never acts, and is told that it lost', async () => {
    const line = await here.lines.to(here.server);
    const tenure = await connect({ servers: line.address, sessionTimeoutMs: T, leaseMs: 60 });
    const told: string[] = [];
    for (const event of ['elected', 'lost', 'released'] as const) tenure.events.on(event, () => told.push(event));
    await line.delayReplies(150);
    const term = await tenure.election('born-lost').campaign();
    expect(term.state).toBe('lost');
    expect(() => term.assert()).toThrow('no renewal was confirmed within the lease');
    await here.operator.queueOf('born-lost', 0);
    await waitFor(() => told.length === 3, { what: 'all to be told' });
    expect(told).toEqual(['elected', 'lost', 'released']);
    await line.mend();
    await tenure.close();
    await line.close();
  });

  it('ends its own term by its own clock when the expiry is never seen', async () => {
    const { line, book, leader, term, successor, end } = await pair();
    const cutAt = monotonicMs();
    await line.refuse();
    expect(await leader.lost(term)).toBe('lease_expired');
    expect(monotonicMs() - cutAt).toBeLessThan(T);
    await successor.leading();
    expect(book.worstOverlapMs).toBeLessThan(0);
    await end();
  });
});
