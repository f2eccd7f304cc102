import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres, waitFor } from '../../../deploy/local/index.js';
import { StaleTokenError } from '../../../src/errors.js';
import type { FencedTerm, FencingObserver } from '../../../src/fencing/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { type Job, schedule, type Tasks, tasks } from '../../../src/fencing/tasks.js';
import { fakeTerm } from '../../conformance/terms.js';

let server: Postgres;
let pool: pg.Pool;
let work: Tasks<pg.PoolClient>;
let made = 0;
/** The scheduler's wall clock: set, and running. */
let offset = 0;
const now = () => Date.now() + offset;
const setClock = (text: string) => {
  offset = Date.parse(text) - Date.now();
};

beforeAll(async () => {
  server = await startPostgres();
  pool = new pg.Pool({ ...server.config, max: 12 });
  pool.on('error', () => undefined);
  await tasks({ guard: postgresGuard({ pool }), resource: 'x' }).migrate();
});
afterAll(async () => {
  await pool?.end();
  await server?.close();
});
beforeEach(() => {
  made += 1;
  work = tasks({ guard: postgresGuard({ pool }), resource: `schedule-${made}` });
});

/** A term that can be ended, and its schedule, running. */
function lead(token: bigint, jobs: Job<pg.PoolClient>[], observer: FencingObserver = {}) {
  const ended = new AbortController();
  const term: FencedTerm = fakeTerm(token, { signal: ended.signal, forMs: 60_000 });
  const running = schedule({ tasks: work, jobs, observer, now }).run(term);
  running.catch(() => undefined);
  const resign = async () => {
    ended.abort();
    await running;
  };
  return { running, resign };
}
const record = (name: string, into: string[], more: Partial<Job<pg.PoolClient>> = {}): Job<pg.PoolClient> =>
  ({
    name,
    cron: '0 * * * *',
    run: (_: unknown, { at, missed, key, idempotencyKey }) => {
      expect(key).toBe(`schedule/${name}/${at.toISOString()}`);
      expect(idempotencyKey).toBe([work.resource, key].map(encodeURIComponent).join('/'));
      into.push(`${at.toISOString().slice(11, 16)}${missed ? ' missed' : ''}`);
    },
    ...more,
  }) as Job<pg.PoolClient>;

describe('jobs of the leader', () => {
  test('run when they come due, each period once, whoever leads', async () => {
    setClock(new Date().toISOString());
    const seen: string[] = [];
    const job: Job<pg.PoolClient> = {
      name: 'every-second',
      cron: '* * * * * *',
      missed: 'all',
      run: (_, period) => void seen.push(`${period.at.getTime()}`),
    };
    const first = lead(1n, [job]);
    await waitFor(() => seen.length >= 2, { what: 'two periods' });
    await first.resign();
    const second = lead(2n, [job]);
    await waitFor(() => seen.length >= 4, { what: 'four periods' });
    await second.resign();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.map(Number).every((at, i) => i === 0 || at === Number(seen[i - 1]) + 1_000)).toBe(true);
  });

  test('what came due while nobody led is skipped, run once or run in order', async () => {
    const all: string[] = [];
    const latest: string[] = [];
    const skip: string[] = [];
    const jobs = [
      record('all', all, { missed: 'all' }),
      record('latest', latest),
      record('skip', skip, { missed: 'skip' }),
      record('local', [], { missed: 'skip', timeZone: 'Asia/Kathmandu' }),
    ];
    setClock('2025-05-01T10:30:00Z');
    const succeeded: string[] = [];
    const told: FencingObserver = {
      lastSuccess: (name, atMs) => void succeeded.push(`${name} ${atMs === 0 ? 'never' : 'then'}`),
    };
    const first = lead(1n, jobs, told);
    await waitFor(() => succeeded.length === 4, { what: 'all jobs to be looked up' });
    expect(succeeded.toSorted()).toEqual(['all never', 'latest never', 'local never', 'skip never']);
    await first.resign();
    expect([all, latest, skip]).toEqual([[], [], []]);

    setClock('2025-05-01T13:30:00Z');
    succeeded.length = 0;
    const second = lead(2n, jobs, told);
    await waitFor(() => all.length === 3 && latest.length === 1, { what: 'what was missed' });
    await second.resign();
    expect(all).toEqual(['11:00 missed', '12:00 missed', '13:00 missed']);
    expect(latest).toEqual(['13:00 missed']);
    expect(skip).toEqual([]);

    setClock('2025-05-01T13:45:00Z');
    succeeded.length = 0;
    const third = lead(3n, jobs, told);
    await waitFor(() => succeeded.length === 4, { what: 'all jobs to be looked up' });
    await third.resign();
    expect(succeeded.toSorted()).toEqual(['all then', 'latest then', 'local never', 'skip never']);
    expect([all.length, latest.length, skip.length]).toEqual([3, 1, 0]);
  });

  test('a period that fails is tried again, then given up, told each time; the next leader takes it up', async () => {
    const failures: string[] = [];
    let fail = true;
    let runs = 0;
    const job: Job<pg.PoolClient> = {
      name: 'failing',
      cron: '0 * * * *',
      attempts: 3,
      retryDelayMs: 10,
      run: () => {
        runs += 1;
        if (fail) throw new Error('no');
      },
    };
    const observer: FencingObserver = {
      failed: (name, error, final) => void failures.push(`${name} ${error} ${final}`),
    };
    setClock('2025-05-01T10:59:59.900Z');
    const first = lead(1n, [job], observer);
    await waitFor(() => failures.length === 3, { what: 'the last attempt' });
    expect(failures).toEqual(['failing Error: no false', 'failing Error: no false', 'failing Error: no true']);
    // Given up: no other attempt follows.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(failures).toHaveLength(3);
    await first.resign();
    fail = false;
    const second = lead(2n, [job], observer);
    await waitFor(() => runs === 4, { what: 'the next leader' });
    await second.resign();
    expect(failures).toHaveLength(3);
  });

  test('end with a refusal when a newer term has been accepted', async () => {
    setClock(new Date().toISOString());
    const job: Job<pg.PoolClient> = { name: 'tick', cron: '* * * * * *', run: () => undefined };
    const first = lead(1n, [job]);
    await work.guard.check(fakeTerm(2n), work.resource);
    await expect(first.running).rejects.toBeInstanceOf(StaleTokenError);
  });

  test('in steps: a resignation waits for the running period; its next leader does not run it again', async () => {
    setClock('2025-05-01T10:59:59.900Z');
    const steps: string[] = [];
    let begun: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const job: Job<pg.PoolClient> = {
      name: 'long',
      cron: '0 * * * *',
      steps: async (task, period) => {
        begun();
        await task.step('one', () => new Promise((resolve) => setTimeout(resolve, 150)));
        steps.push(period.at.toISOString());
      },
    };
    const first = lead(1n, [job]);
    await started;
    await first.resign();
    expect(steps).toEqual(['2025-05-01T11:00:00.000Z']);
    const told: number[] = [];
    const second = lead(2n, [job], { lastSuccess: (_, at) => void told.push(at) });
    await waitFor(() => told.length > 0, { what: 'the second leader' });
    await second.resign();
    expect(steps).toHaveLength(1);
    expect(told[0]).toBeGreaterThan(0);
  });

  test('two of one name, or one that cannot be read, are refused at once', () => {
    const job = record('a', []);
    expect(() => schedule({ tasks: work, jobs: [job, job] })).toThrow(/two jobs/);
    expect(() => schedule({ tasks: work, jobs: [record('b', [], { cron: 'x' })] })).toThrow(/cron "x"/);
    // With what a task's key adds to it, it would not fit.
    expect(() => schedule({ tasks: work, jobs: [record('n'.repeat(490), [])] })).toThrow(/at most 512 bytes/);
  });

  test('that are many bring no warning about listeners', async () => {
    setClock(new Date().toISOString());
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on('warning', warned);
    const looked = new Set<string>();
    const jobs = Array.from({ length: 12 }, (_, i) => record(`job-${i}`, []));
    const leading = lead(1n, jobs, { lastSuccess: (job) => void looked.add(job) });
    await waitFor(() => looked.size === jobs.length, { what: 'all jobs to be looked up' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await leading.resign();
    process.removeListener('warning', warned);
    expect(warnings).toEqual([]);
  });

  test('that a leader with a wrong clock has moved into the future stand still, and that is told', async () => {
    const seen: string[] = [];
    setClock('2025-05-01T10:59:59.900Z');
    const ahead = lead(1n, [record('hourly', seen)]);
    await waitFor(() => seen.length === 1, { what: 'the period of the clock that is ahead' });
    await ahead.resign();
    setClock('2025-05-01T10:30:00Z');
    const failures: string[] = [];
    const since = new Date('2025-06-01T00:00:00Z');
    const right = lead(2n, [record('hourly', seen), record('from-june', [], { since })], {
      failed: (job, error, final) => void failures.push(`${job} ${error} ${final}`),
    });
    await waitFor(() => failures.length > 0, { what: 'somebody to be told' });
    await right.resign();
    expect(failures).toEqual([expect.stringMatching(/^hourly .*2025-05-01T11:00:00.000Z.* in the future/)]);
  });
});
