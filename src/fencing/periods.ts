import { Cron } from 'croner';
import { InvalidOptionError } from '../errors.js';

/**
 * What to do with periods that are found late, as after a time in which nobody led: `skip` them, run the `latest` one in place of all, or
 * run `all`, in order. Those that are on time run in any case.
 */
export type Missed = 'skip' | 'latest' | 'all';

/** At most this many missed periods are caught up; older ones are skipped. */
export const MAX_CATCH_UP = 1_000;

/**
 * A cron expression in a time zone. What it does where clocks change is croner's rule: a job with one fixed time of day (`30 2 * * *`) runs
 * at the first moment after a gap that swallows it, and once, the first time, in an hour that comes twice. A job with wildcards, steps or lists skips
 * what falls into the gap and runs in both of the twin hours.
 */
export class Periods {
  readonly #cron: Cron;

  /** @throws {InvalidOptionError} an expression or time zone that can't be read */
  constructor(expression: string, timeZone: string) {
    try {
      new Intl.DateTimeFormat('en', { timeZone });
    } catch {
      throw new InvalidOptionError(
        'timeZone',
        `timeZone ${JSON.stringify(timeZone)}: an IANA name is needed, such as Europe/Berlin or UTC`,
      );
    }
    try {
      this.#cron = new Cron(expression, { timezone: timeZone, paused: true });
    } catch (error) {
      throw new InvalidOptionError('cron', `cron ${JSON.stringify(expression)}: ${(error as Error).message}`);
    }
  }

  /** The first period after a moment, in milliseconds since 1970; undefined when there is none. */
  next(afterMs: number): number | undefined {
    return this.#cron.nextRun(new Date(afterMs))?.getTime();
  }

  /**
   * The periods after `cursorMs` and up to `nowMs` that are to be run, oldest first. One is missed when it is more than `lateMs` old.
   */
  due(cursorMs: number, nowMs: number, missed: Missed, lateMs: number): { atMs: number; missed: boolean }[] {
    const all: { atMs: number; missed: boolean }[] = [];
    // One at a time: mostly one is due, and a thousand at once would hold up the event loop, and the renewals with it.
    for (let before = nowMs + 1; all.length < MAX_CATCH_UP; ) {
      // croner takes what is strictly before: the period of this very millisecond is due as well.
      const atMs = this.#cron.previousRuns(1, new Date(before))[0]?.getTime();
      if (atMs === undefined || atMs <= cursorMs || atMs >= before) break;
      const late = nowMs - atMs > lateMs;
      if (late && missed === 'skip') break;
      all.push({ atMs, missed: late });
      if (late && missed === 'latest') break;
      before = atMs;
    }
    return all.reverse();
  }
}

/** When a job comes due next, for people: what `schedule()` goes by. */
export function nextPeriod(cron: string, timeZone: string, after: Date): Date | null {
  const next = new Periods(cron, timeZone).next(after.getTime());
  return next === undefined ? null : new Date(next);
}
