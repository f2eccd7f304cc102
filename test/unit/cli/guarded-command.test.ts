import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuardedCommand } from '../../../src/cli/run/guarded-command.js';
import { Signals } from '../../../src/cli/run/signals.js';
import { silentLogger } from '../../../src/election/host.js';
import type { Term } from '../../../src/election/term.js';
import type { Lifeline } from '../../../src/lifeline/lifeline.js';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tenure-command-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** A command that would leave a file, under a term that stands as it is told to. */
function scene(name: string, term: { state: 'leading' | 'suspect'; remainingMs: number }) {
  const process = new EventEmitter() as NodeJS.Process;
  const signals = new Signals(process);
  const renewals = new EventEmitter();
  const file = join(directory, name);
  const lost = new AbortController();
  const held = {
    ...term,
    signal: lost.signal,
    remainingMs: () => term.remainingMs,
    number: 1,
    token: 7n,
    election: name,
  };
  const nothing = () => {};
  const command = new GuardedCommand(held as unknown as Term, '/usr/bin/touch', ['touch', file], {
    lifeline: {
      lease: nothing,
      childStarting: nothing,
      childRuns: nothing,
      childEnded: nothing,
    } as unknown as Lifeline,
    signals,
    limits: { graceMs: 1_000, drainMs: 1_000 },
    logger: silentLogger,
    onRenewal: (listener) => {
      renewals.on('renewal', listener);
      return () => renewals.off('renewal', listener);
    },
    onStart: nothing,
  });
  return { process, signals, renewals, lost, file, run: () => command.run({ PATH: '/usr/bin' }) };
}

describe('a command that has not begun', () => {
  it('is started while the lease is long', async () => {
    const { run, file } = scene('started', { state: 'leading', remainingMs: 5_000 });
    expect(await run()).toEqual({ code: 0, told: false });
    expect(existsSync(file)).toBe(true);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)(
    'is not started after %s, which nobody would pass on to it',
    async (signal) => {
      const { process, run, file } = scene(signal, { state: 'leading', remainingMs: 5_000 });
      process.emit(signal, signal);
      expect(await run()).toBeNull();
      expect(existsSync(file)).toBe(false);
    },
  );

  it.each([
    ['is told to stop', ({ process }: ReturnType<typeof scene>) => process.emit('SIGTERM', 'SIGTERM')],
    ['loses its term', ({ lost }: ReturnType<typeof scene>) => lost.abort()],
  ])('waits for no renewal when it %s', async (_what, happens) => {
    const waiting = scene('waiting', { state: 'suspect', remainingMs: 5_000 });
    const run = waiting.run();
    happens(waiting);
    expect(await run).toBeNull();
    expect(existsSync(waiting.file)).toBe(false);
    expect(waiting.renewals.listenerCount('renewal')).toBe(0);
  });
});
