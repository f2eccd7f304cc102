import type { Logger } from '../election/host.js';
import { type Output, toJson } from './output.js';
import { visible } from './text.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LEVELS)[number] | 'silent';

/** Lines for people on standard error, or JSON. Metrics and long-lived services have pino; a command has somebody who reads. */
export function logTo(err: Output, level: LogLevel, json: boolean): Logger {
  const least = level === 'silent' ? LEVELS.length : LEVELS.indexOf(level);
  const at = (index: number, name: string) => (fields: object, message: string) => {
    if (index < least) return;
    if (json) err.line(toJson({ level: name, time: new Date().toISOString(), ...plain(fields), msg: message }));
    else err.line(`tenure: ${name}: ${visible(message)}${err.style.dim(detail(fields))}`);
  };
  return { debug: at(0, 'debug'), info: at(1, 'info'), warn: at(2, 'warn'), error: at(3, 'error') };
}

function detail(fields: object): string {
  const parts = Object.entries(plain(fields))
    .filter(([key]) => key !== 'event')
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : toJson(value)}`);
  return parts.length === 0 ? '' : ` (${visible(parts.join(', '))})`;
}

/** An error has no JSON of its own. */
function plain(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? value.message : value]),
  );
}
