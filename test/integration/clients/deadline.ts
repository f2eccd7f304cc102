import { expect, type TestAPI } from 'vitest';
import { waitFor } from '../../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { ClientProcess } from './client-process.js';
import { FakeSidecar, leading, notLeading } from './fake-sidecar.js';
import type { Command } from './languages.js';

/** A machine with other work on it. */
const SLACK_MS = 1_000;

/** What a client does with answers and events, at moments that only a sidecar of ours can choose. */
export function deadlineTests(test: TestAPI, command: () => Command): void {
  const start = (sidecar: FakeSidecar, drainMs = 0) =>
    new ClientProcess(command(), { url: sidecar.url, election: 'pay/tenant 7', id: 'ann:1', drainMs });

  test('the deadline counts from when the request was sent, however late its answer', async () => {
    await using sidecar = await FakeSidecar.start();
    sidecar.delayMs = 600;
    sidecar.told = leading('9007199254740993');
    await using worker = start(sidecar);
    await worker.until('act', ({ at }) => at > (worker.of('act')[0]?.at ?? Infinity) + 1_500);
    for (const { token, remainingMs = Infinity } of worker.of('act')) {
      expect(token).toBe('9007199254740993');
      expect(remainingMs).toBeLessThanOrEqual(2_000 - 600);
    }
  });

  test('events that say it leads lengthen nothing: only a request does', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    await worker.leads();
    await waitFor(() => sidecar.streams > 0, { what: 'a stream' });
    // From now on no request is answered before the deadline is over.
    sidecar.delayMs = 60_000;
    const cut = monotonicMs();
    for (const at of [200, 400, 600, 800, 1_000, 1_200, 1_400, 1_600, 1_800, 2_000]) {
      await sleep(Math.max(0, cut + at - monotonicMs()));
      sidecar.event(leading('7'));
    }
    const cancelled = await worker.until('cancelled');
    expect(cancelled.at).toBeLessThan(cut + 2_000 + SLACK_MS);
    expect(worker.of('act').at(-1)?.at).toBeLessThan(cut + 2_000);
    expect(cancelled.at).toBeGreaterThan(cut + 500);
  });

  test('frozen past its deadline: nothing more is done in that term, though the sidecar says that it leads', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    // What wakes first is chance: often enough, it is the work.
    for (const token of ['7', '8', '9']) {
      sidecar.tell(leading(token));
      await worker.until('act', (said) => said.token === token);
      await sleep(300);
      worker.freeze();
      const frozen = monotonicMs();
      await sleep(2_200);
      worker.thaw();
      const over = await worker.until('over', (said) => said.token === token);
      // Behind it there may be another term already: this sidecar gives the same token again.
      const before = worker.said.slice(0, worker.said.indexOf(over));
      expect(before.filter(({ event, at }) => event === 'act' && at > frozen + 100)).toEqual([]);
      sidecar.told = notLeading('waiting');
      await waitFor(() => worker.of('stopped').some((said) => said.token === token), { what: 'the work to stop' });
    }
  });

  test('suspect: nothing is done until a later answer vouches for the term again', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    await worker.leads();
    await waitFor(() => sidecar.streams > 0, { what: 'a stream' });
    const doubted = monotonicMs();
    sidecar.tell(notLeading('suspect', '7', 'connection_lost'));
    await worker.until('suspect');
    await sleep(300);
    const acted = worker.of('act').at(-1)?.at ?? Infinity;
    expect(acted).toBeLessThan(doubted + SLACK_MS);
    expect(worker.of('suspect').length).toBeGreaterThan(3);
    sidecar.tell(leading('7'));
    await worker.until('act', ({ at }) => at > acted);
    expect(worker.of('term')).toHaveLength(1);
    expect(worker.of('cancelled')).toHaveLength(0);
  });

  test('suspect for longer than the deadline that was given: the term is over, though the sidecar keeps it', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    await worker.leads();
    await waitFor(() => sidecar.streams > 0, { what: 'a stream' });
    sidecar.tell(notLeading('suspect', '7', 'connection_lost'));
    const doubted = monotonicMs();
    const cancelled = await worker.until('cancelled');
    expect(cancelled.at).toBeLessThan(doubted + 2_000 + SLACK_MS);
    // It leaves, as it can't go on with a term that it has stopped to work for, and joins anew.
    await waitFor(() => sidecar.asked.some(({ method }) => method === 'DELETE'), { what: 'it to leave' });
  });

  test('draining: cancelled at once; the sidecar hears that it has settled once the work has stopped', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar, 400);
    await worker.leads();
    await waitFor(() => sidecar.streams > 0, { what: 'a stream' });
    const drained = monotonicMs();
    sidecar.tell(notLeading('draining', '7', 'paused'));
    expect((await worker.until('cancelled')).reason).toContain('paused');
    expect((await worker.until('over')).at).toBeLessThan(drained + SLACK_MS);
    const stopped = await worker.until('stopped');
    const settled = await waitFor(() => sidecar.asked.find((one) => one.settled), { what: 'the word of it' });
    expect(settled.at).toBeGreaterThanOrEqual(stopped.at);
    sidecar.tell(notLeading('waiting'));
    sidecar.tell(leading('8'));
    await worker.leads('7');
    expect(sidecar.asked.some(({ method }) => method === 'DELETE')).toBe(false);
  });

  test('news that was overtaken is dropped', async () => {
    await using sidecar = await FakeSidecar.start();
    sidecar.version = 10;
    await using worker = start(sidecar);
    await worker.leads();
    await waitFor(() => sidecar.streams > 0, { what: 'a stream' });
    sidecar.event(notLeading('waiting'), 9);
    await sleep(500);
    expect(worker.of('cancelled')).toHaveLength(0);
    expect(worker.of('act').at(-1)?.at).toBeGreaterThan(monotonicMs() - SLACK_MS);
  });

  test('views of a long queue, and of metadata nested without end, leave the stream as it is', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    await worker.leads();
    await waitFor(() => sidecar.streams > 0, { what: 'a stream' });
    const view = (metadata: string, candidates: string) =>
      sidecar.send('view', `{"leader":{"metadata":${metadata}},"candidates":[${candidates}]}`);
    view(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`, '');
    view('{}', Array.from({ length: 3_000 }, () => JSON.stringify({ id: 'a'.repeat(1_000) })).join());
    sidecar.event(notLeading('draining', '7', 'paused'));
    expect((await worker.until('cancelled')).reason).toContain('paused');
    expect(sidecar.opened).toBe(1);
  });

  test('a sidecar that forgot the candidacy: cancelled at once, and joins anew', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    await worker.leads();
    // Who joins anew leads a new term.
    sidecar.told = leading('8');
    sidecar.refuses = { status: 404, code: 'no_candidacy' };
    await worker.until('cancelled');
    const acted = worker.of('act').at(-1)?.at ?? Infinity;
    sidecar.refuses = null;
    await worker.leads('7');
    expect(worker.of('act').every(({ at, token }) => token === '8' || at <= acted)).toBe(true);
  });

  test('a sidecar that fails: asked again until the deadline, and the term goes on if it recovers before', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar);
    await worker.leads();
    sidecar.refuses = { status: 500, code: 'internal' };
    await sleep(700);
    sidecar.refuses = null;
    await sleep(2_500);
    expect(worker.of('cancelled')).toHaveLength(0);
    sidecar.refuses = { status: 500, code: 'internal' };
    const failed = monotonicMs();
    expect((await worker.until('cancelled')).at).toBeLessThan(failed + 2_000 + SLACK_MS);
  });

  test('closed: the candidacy is kept until the work has stopped, and then left', async () => {
    await using sidecar = await FakeSidecar.start();
    await using worker = start(sidecar, 2_500);
    await worker.leads();
    const closed = monotonicMs();
    worker.tell('close');
    const stopped = await worker.until('stopped');
    expect((await worker.until('left')).how).toBe('closed');
    const left = sidecar.asked.find(({ method }) => method === 'DELETE');
    expect(left?.at).toBeGreaterThanOrEqual(stopped.at);
    // Past its last deadline, too.
    expect(sidecar.asked.filter(({ at, method }) => method === 'PUT' && at > closed + 2_000)).not.toHaveLength(0);
  });
}
