import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { guarded, logEvent } from '../../src/logging.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

it('passes everything on to a logger that is well, as it came', () => {
  const calls: unknown[][] = [];
  const note =
    (level: string) =>
    (...args: unknown[]) =>
      void calls.push([level, ...args]);
  const logger = guarded({ debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') });
  const fields = { election: 'a' };
  for (const level of LEVELS) logger[level](fields, level);
  expect(calls).toEqual(LEVELS.map((level) => [level, fields, level]));
  expect(calls.every(([, passed]) => passed === fields)).toBe(true);
});

it('keeps the mistakes of a logger from whoever logs, and tells the first as a warning of the process', async () => {
  const warnings: string[] = [];
  const hear = (warning: Error & { code?: string }) => {
    if (warning.code === 'TENURE_LOGGER') warnings.push(warning.message);
  };
  process.on('warning', hear);
  onTestFinished(() => void process.off('warning', hear));
  const fail = () => {
    throw new Error('the destination is closed');
  };
  const logger = guarded({ debug: fail, info: fail, warn: fail, error: fail });
  for (const level of LEVELS) logger[level]({}, 'x');
  logEvent(logger, 'session_opened', { timeoutMs: 1, requestedMs: 2 } as never);
  await turn();
  expect(warnings).toEqual(['the logger threw: the destination is closed']);
});
