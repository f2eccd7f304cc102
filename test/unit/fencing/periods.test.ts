import { describe, expect, test } from 'vitest';
import { Periods } from '../../../src/fencing/periods.js';
import { nextPeriod } from '../../../src/fencing/tasks.js';

const at = (text: string): number => Date.parse(text);
const texts = (due: { atMs: number; missed: boolean }[]): string[] =>
  due.map(({ atMs, missed }) => `${new Date(atMs).toISOString()}${missed ? ' missed' : ''}`);

describe('periods of a job', () => {
  const hourly = new Periods('0 * * * *', 'UTC');
  const cursor = at('2025-03-01T00:00:00Z');
  const now = at('2025-03-01T05:00:00.500Z');

  test('what is missed is skipped, run once, or run in order', () => {
    expect(texts(hourly.due(cursor, now, 'skip', 60_000))).toEqual(['2025-03-01T05:00:00.000Z']);
    expect(texts(hourly.due(cursor, now, 'latest', 60_000))).toEqual([
      '2025-03-01T04:00:00.000Z missed',
      '2025-03-01T05:00:00.000Z',
    ]);
    expect(texts(hourly.due(cursor, now, 'all', 60_000))).toEqual([
      '2025-03-01T01:00:00.000Z missed',
      '2025-03-01T02:00:00.000Z missed',
      '2025-03-01T03:00:00.000Z missed',
      '2025-03-01T04:00:00.000Z missed',
      '2025-03-01T05:00:00.000Z',
    ]);
    const later = at('2025-03-01T05:30:00Z');
    expect(texts(hourly.due(cursor, later, 'skip', 60_000))).toEqual([]);
    expect(texts(hourly.due(cursor, later, 'latest', 60_000))).toEqual(['2025-03-01T05:00:00.000Z missed']);
  });

  test('all that is on time runs, whatever is done about what is late', () => {
    const minutes = new Periods('* * * * *', 'UTC');
    const onTime = ['04:58', '04:59', '05:00'].map((time) => `2025-03-01T${time}:00.000Z`);
    expect(texts(minutes.due(cursor, now, 'skip', 150_000))).toEqual(onTime);
    expect(texts(minutes.due(cursor, now, 'latest', 150_000))).toEqual(['2025-03-01T04:57:00.000Z missed', ...onTime]);
  });

  test('the period of this very millisecond is due, the one at the cursor is not', () => {
    const exact = at('2025-03-01T05:00:00.000Z');
    expect(texts(hourly.due(at('2025-03-01T04:00:00Z'), exact, 'all', 0))).toEqual(['2025-03-01T05:00:00.000Z']);
    expect(hourly.due(exact, exact + 1, 'all', 0)).toEqual([]);
    expect(hourly.due(exact, exact - 1, 'all', 0)).toEqual([]);
  });

  test('a long absence is caught up from its newest thousand periods', () => {
    const due = new Periods('* * * * * *', 'UTC').due(cursor, now, 'all', 0);
    expect(due).toHaveLength(1_000);
    expect(due.at(-1)?.atMs).toBe(at('2025-03-01T05:00:00.000Z'));
  });

  test('walking forward and looking back agree across clock changes', () => {
    for (const [cron, zone] of [
      ['30 2 * * *', 'Europe/Berlin'],
      ['*/30 * * * *', 'America/New_York'],
      ['0 0,1,2,3 * * *', 'Australia/Lord_Howe'],
      ['15 1 * * SUN', 'Europe/London'],
    ] as const) {
      const periods = new Periods(cron, zone);
      for (const day of ['2025-03-09', '2025-03-30', '2025-10-26']) {
        const start = at(`${day}T00:00:00Z`) - 43_200_000;
        const end = start + 86_400_000 * 1.5;
        const forward: number[] = [];
        for (let next = periods.next(start); next !== undefined && next <= end; next = periods.next(next))
          forward.push(next);
        expect(
          periods.due(start, end, 'all', 0).map(({ atMs }) => atMs),
          `${cron} ${zone} ${day}`,
        ).toEqual(forward);
      }
    }
  });

  test('a fixed time in the spring gap runs when the gap is over', () => {
    // Berlin, 30 March 2025: 02:00 CET becomes 03:00 CEST, at 01:00 UTC.
    expect(nextPeriod('30 2 * * *', 'Europe/Berlin', new Date('2025-03-30T00:00:00Z'))?.toISOString()).toBe(
      '2025-03-30T01:00:00.000Z',
    );
    expect(nextPeriod('30 2 * * *', 'Europe/Berlin', new Date('2025-03-30T01:00:00Z'))?.toISOString()).toBe(
      '2025-03-31T00:30:00.000Z',
    );
  });

  test('a fixed time in the autumn hour that comes twice runs once; steps run in both', () => {
    // Berlin, 26 October 2025: 03:00 CEST becomes 02:00 CET, at 01:00 UTC.
    const day = [at('2025-10-26T00:00:00Z') - 1, at('2025-10-26T02:00:00Z') - 1] as const;
    expect(texts(new Periods('30 2 * * *', 'Europe/Berlin').due(...day, 'all', 1e9))).toEqual([
      '2025-10-26T00:30:00.000Z',
    ]);
    expect(new Periods('*/30 2 * * *', 'Europe/Berlin').due(...day, 'all', 1e9)).toHaveLength(4);
  });

  test('what cannot be read is refused, by name', () => {
    expect(() => new Periods('61 * * * *', 'UTC')).toThrow(/cron "61/);
    expect(() => new Periods('* * * * *', 'Berlin')).toThrow(/timeZone "Berlin"/);
  });
});
