import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import {
  ClosedError,
  connect,
  LeadershipLostError,
  NotLeadingError,
  type Tenure,
  type Term,
} from '../../../src/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { Contender } from '../../support/contender.js';
import { Operator } from '../../support/operator.js';

/*
 * Workers, and how their terms end: those that return, throw, never settle or ignore their signal, and whoever gives up or closes
 * at any moment. From the field: 13 (released while the worker still runs), 14 (run once, never again; a worker that throws and
 * still leads), 15 (a listener that calls back). 17, the wrapped command, is the command's.
 */

const T = 4_000;

let ensemble: Ensemble;
let operator: Operator;
let tenure: Tenure;
let count = 0;
const fresh = (): string => {
  count += 1;
  return `lead-${count}`;
};

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 500, fsync: false });
  operator = await Operator.at(ensemble.connectString);
  tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
});

afterAll(async () => {
  await tenure?.close();
  await operator?.close();
  await ensemble?.close();
});

const aborted = (term: Term): Promise<void> =>
  new Promise((resolve) => term.signal.addEventListener('abort', () => resolve()));

/** A machine that is busy pauses this process, and makes the term doubtful until a renewal is confirmed. A term that is lost stays so. */
const vouchedFor = (term: Term): Promise<boolean> =>
  waitFor(
    () => {
      try {
        term.assert();
        return true;
      } catch (error) {
        if (error instanceof NotLeadingError) return false;
        throw error;
      }
    },
    { what: 'a lease without doubt' },
  );

describe.concurrent('a worker', () => {
  it('that returns: its value, the leadership resigned, the end on record, the next one at once', async () => {
    const name = fresh();
    const next = tenure.election(name, { id: 'next' });
    let successor: Promise<Term> | undefined;
    const value = await tenure.election(name, { id: 'first' }).lead(async () => {
      successor = next.campaign();
      await operator.queueOf(name, 2);
      return 42;
    });
    expect(value).toBe(42);
    const term = await successor;
    expect(term?.previous).toMatchObject({ term: 1, leaderId: 'first', end: 'resigned' });
    await term?.resign();
    await operator.queueOf(name, 0);
  });

  it('that throws: rejected with its error, resigned first, so that another one leads (14)', async () => {
    const name = fresh();
    const mistake = new Error('mistake');
    const lead = tenure.election(name, { id: 'first' }).lead(() => {
      throw mistake;
    });
    await expect(lead).rejects.toBe(mistake);
    await operator.queueOf(name, 0);
    const recovering = tenure.election(name, { id: 'second' }).lead(() => 'never', {
      recover: () => Promise.reject(mistake),
    });
    await expect(recovering).rejects.toBe(mistake);
    await operator.queueOf(name, 0);
    expect(await tenure.election(name).lead((term) => term.previous?.end)).toBe('resigned');
  });

  it('that throws or returns leads again where that is asked for (14)', async () => {
    const name = fresh();
    const terms: number[] = [];
    const stop = new AbortController();
    const lead = tenure.election(name).lead(
      (term) => {
        terms.push(term.number);
        if (terms.length === 4) stop.abort(new Error('enough'));
        if (terms.length % 2 === 0) throw new Error('a bad day');
      },
      { again: true, cooldownMs: 10, onError: 'rejoin', signal: stop.signal },
    );
    await expect(lead).rejects.toThrow('enough');
    expect(terms).toEqual([1, 2, 3, 4]);
    await operator.queueOf(name, 0);
  });

  it('is drained before its leadership is released (13)', async () => {
    const name = fresh();
    const stop = new AbortController();
    let stoppedAt = 0;
    let mayFinish = false;
    let begun: () => void = () => {};
    const working = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const first = tenure.election(name, { id: 'first' }).lead(
      async (term) => {
        begun();
        await aborted(term);
        await sleep(400);
        // It may finish what it has begun: the lease still holds.
        await vouchedFor(term);
        mayFinish = term.state === 'draining';
        stoppedAt = monotonicMs();
      },
      { signal: stop.signal },
    );
    await working;
    const second = tenure.election(name, { id: 'second' }).campaign();
    await operator.queueOf(name, 2);
    stop.abort(new Error('stop'));
    const [term] = await Promise.all([second, expect(first).rejects.toThrow('stop')]);
    expect(mayFinish).toBe(true);
    expect(monotonicMs()).toBeGreaterThan(stoppedAt);
    expect(term.previous?.end).toBe('resigned');
    await term.resign();
  });

  it('that ignores its signal loses its node in time, unannounced, and is told of; it joins no more', async () => {
    const name = fresh();
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
    const undrained = new Promise((resolve) => own.events.once('undrained', resolve));
    const election = own.election(name, { id: 'deaf', drainTimeoutMs: 300 });
    const stop = new AbortController();
    let settle: () => void = () => {};
    let term: Term | undefined;
    const lead = election.lead(
      (given) => {
        term = given;
        return new Promise<void>((resolve) => {
          settle = resolve;
        });
      },
      { signal: stop.signal },
    );
    await operator.queueOf(name, 1);
    await waitFor(() => term?.state === 'leading', { what: 'the worker to run' });
    stop.abort(new Error('stop'));
    expect(await undrained).toMatchObject({ term: 1 });
    await operator.queueOf(name, 0);
    expect(() => term?.assert()).toThrow(LeadershipLostError);
    expect((await operator.record(name))?.['ended']).toBeNull();
    await waitFor(() => !election.health().healthy, { what: 'its health to be bad' });
    settle();
    await expect(lead).rejects.toThrow('stop');
    expect(election.health().healthy).toBe(true);
    await operator.queueOf(name, 0);
    await own.close();
  });

  it('that never settles does not keep close() from ending, nor its successor from leading', async () => {
    const name = fresh();
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
    let leads = false;
    void own.election(name, { drainTimeoutMs: 200 }).lead(() => {
      leads = true;
      return new Promise(() => {});
    });
    await waitFor(() => leads, { what: 'it to lead' });
    const begin = monotonicMs();
    await own.close();
    expect(monotonicMs() - begin).toBeLessThan(T);
    const term = await tenure.election(name).campaign();
    expect(term.previous?.end).toBe('vanished');
    await term.resign();
  });

  it('that resigns as soon as its signal is aborted ends once, and leaves no timer behind', async () => {
    const name = fresh();
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
    const told: string[] = [];
    for (const event of ['draining', 'lost', 'undrained', 'released'] as const)
      own.events.on(event, () => told.push(event));
    const stop = new AbortController();
    const lead = own.election(name, { drainTimeoutMs: 400 }).lead(
      async (term) => {
        term.signal.addEventListener('abort', () => void term.resign());
        stop.abort(new Error('stop'));
        await sleep(1);
      },
      { signal: stop.signal },
    );
    await expect(lead).rejects.toThrow('stop');
    await sleep(600);
    expect(told.filter((event) => event !== 'draining')).toEqual(['lost', 'released']);
    expect(told.at(-1)).toBe('released');
    await own.close();
  });

  it('may call back into everything from a listener (15)', async () => {
    const name = fresh();
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
    const election = own.election(name, { id: 'caller' });
    const seen: unknown[] = [];
    own.events.once('elected', () => {
      seen.push(election.current(), own.election(`${name}/inner`).campaign());
      throw new Error('a listener that throws');
    });
    const term = await election.campaign();
    term.on('lost', () => void term.resign());
    await term.resign();
    await Promise.all(seen);
    await own.close();
  });
});

describe.concurrent('giving up', () => {
  it('at any await leaves no node', async () => {
    const name = fresh();
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
    const attempts: Promise<unknown>[] = [];
    for (let turn = 0; turn < 120; turn++) {
      const stop = new AbortController();
      const election = own.election(name, { id: `c${turn}` });
      const attempt =
        turn % 2 === 0 ? election.campaign({ signal: stop.signal }) : election.lead(aborted, { signal: stop.signal });
      // Microtasks first, then turns of the event loop, then milliseconds.
      attempts.push(
        attempt.then(
          (won) => (won as Term | undefined)?.resign(),
          () => {},
        ),
      );
      if (turn < 40) for (let microtask = 0; microtask < turn; microtask++) await undefined;
      else if (turn < 80) for (let late = 40; late < turn; late += 4) await new Promise(setImmediate);
      else await sleep((turn - 80) / 4);
      stop.abort(new Error('given up'));
    }
    await Promise.all(attempts);
    await operator.queueOf(name, 0);
    // And the next one leads at once.
    const begin = monotonicMs();
    await (await own.election(name).campaign({ signal: AbortSignal.timeout(10_000) })).resign();
    expect(monotonicMs() - begin).toBeLessThan(T);
    await own.close();
  });

  it('with a signal that is aborted already joins nothing, and no rejection goes astray', async () => {
    const name = fresh();
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
    const election = own.election(name);
    const signal = AbortSignal.abort(new Error('before'));
    await expect(election.campaign({ signal })).rejects.toThrow('before');
    await expect(election.lead(() => {}, { signal })).rejects.toThrow('before');
    await expect(election.observe({ signal }).next()).rejects.toThrow('before');
    const current = election.current({ signal });
    const closing = own.close();
    await expect(current).rejects.toThrow();
    await closing;
    await operator.queueOf(name, 0);
  });

  it('by close() at any moment ends everything, and leaves no node', async () => {
    const name = fresh();
    for (let turn = 0; turn < 24; turn++) {
      const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T });
      const election = own.election(name, { drainTimeoutMs: 1_000 });
      const lead = election.lead(aborted).catch((error: unknown) => error);
      const campaign = own
        .election(`${name}/other`)
        .campaign()
        .catch((error: unknown) => error);
      const view = election
        .observe()
        .next()
        .catch((error: unknown) => error);
      if (turn < 8) for (let microtask = 0; microtask < turn; microtask++) await undefined;
      else if (turn < 16) for (let late = 8; late < turn; late++) await new Promise(setImmediate);
      else await sleep((turn - 16) * 4);
      await own.close();
      expect(await lead).toBeInstanceOf(ClosedError);
      const won = await campaign;
      if (!(won instanceof ClosedError)) expect((won as Term).state).toBe('lost');
      await view;
      await expect(election.campaign()).rejects.toThrow(ClosedError);
      expect(() => own.election(name)).toThrow(ClosedError);
    }
    await operator.queueOf(name, 0);
    await operator.queueOf(`${name}/other`, 0);
  });

  it('without waiting: null behind another one, the leadership where nobody stands', async () => {
    const name = fresh();
    const first = await tenure.election(name).campaign({ wait: false });
    expect(first?.state).toBe('leading');
    expect(await tenure.election(name).campaign({ wait: false })).toBeNull();
    await operator.queueOf(name, 1);
    await first?.resign();
    await operator.queueOf(name, 0);
  });

  it('while the ensemble is away: close() ends, and so does lead()', async () => {
    const own = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
    const [server] = own.servers;
    const leader = await Contender.enter(own.connectString, 'away', 'leader', { sessionTimeoutMs: T });
    const term = await leader.leading();
    server?.freeze();
    expect(await leader.lost(term)).toBe('lease_expired');
    // It says why it waits, and stops waiting when a session timeout has passed.
    const begin = monotonicMs();
    await Promise.race([leader.stop(), sleep(4 * T)]);
    expect(monotonicMs() - begin).toBeLessThan(3 * T);
    await own.close();
  });
});
