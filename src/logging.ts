import type { EventName, TenureEvents } from './election/events.js';
import type { Logger } from './election/host.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** One line for each event that a person on call would want to read; the rest is for metrics. */
const LINES: Partial<Record<EventName, readonly [Level, string]>> = {
  session_failed: ['warn', 'no session could be opened; trying again'],
  session_state: ['info', 'the ZooKeeper session changed its state'],
  renewal_failed: ['warn', 'a renewal failed'],
  disturbed: ['warn', 'this process was paused, or its clocks were moved'],
  joined: ['debug', 'joined the queue'],
  left: ['debug', 'left the queue'],
  patient: ['info', 'first in the queue; waiting until an unannounced old lease is certainly over'],
  elected: ['info', 'elected'],
  recovered: ['debug', 'recovered'],
  suspect: ['warn', 'suspect: no new work and no writes until a renewal is confirmed'],
  leading: ['info', 'leading'],
  draining: ['info', 'giving the leadership up; the worker may finish what it began'],
  lost: ['warn', 'the term is over'],
  undrained: ['error', 'the worker has not stopped in its time: it may still be running without the leadership'],
  token_regressed: ['error', 'the token would not exceed the last one: the ensemble was restored or rebuilt'],
};

const ORDERLY: ReadonlySet<string> = new Set(['resigned', 'paused', 'transferred', 'held', 'closed']);

/**
 * A logger whose mistakes stay its own: it is called in the middle of the protocol, and a destination that is closed as the process
 * ends mustn't stop a leader from announcing its end. The first mistake is told as a warning of the process.
 */
export function guarded(logger: Logger): Logger {
  let told = false;
  const guard =
    (level: Level) =>
    (fields: object, message: string): void => {
      try {
        logger[level](fields, message);
      } catch (error) {
        if (told) return;
        told = true;
        process.emitWarning(`the logger threw: ${error instanceof Error ? error.message : error}`, {
          code: 'TENURE_LOGGER',
        });
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}

/** Writes an event to the log, bigint as decimal text; `ids` are those of the trace that it belongs to. */
export function logEvent<K extends EventName>(logger: Logger, name: K, event: TenureEvents[K], ids?: object): void {
  if (name === 'session_opened') {
    const { timeoutMs, requestedMs } = event as TenureEvents['session_opened'];
    if (timeoutMs === requestedMs) logger.info(event, 'session opened');
    else
      logger.warn(event, `session opened; the ensemble granted a timeout of ${timeoutMs} ms instead of ${requestedMs}`);
    return;
  }
  const line = LINES[name];
  if (line === undefined) return;
  const [level, message] = line;
  const fields: Record<string, unknown> = { event: name, ...ids };
  for (const [key, value] of Object.entries(event)) {
    fields[key === 'error' ? 'err' : key] = typeof value === 'bigint' ? value.toString() : value;
  }
  const quiet = name === 'lost' && ORDERLY.has((event as TenureEvents['lost']).reason);
  logger[quiet ? 'info' : level](fields, message);
}
