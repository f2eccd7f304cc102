import { InvalidOptionError } from '../errors.js';

/** Longer than any sensible duration; timers beyond 2^31 ms would fire at once. */
const LONGEST_MS = 24 * 3_600_000;

/** A value as a message shows it. */
export function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `function ${value.name}`.trimEnd();
  return (JSON.stringify(value) ?? String(value)).slice(0, 200);
}

/** @throws {InvalidOptionError} when `options` is no object, or has a key that nobody reads */
export function checkKeys(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidOptionError('options', `${what}: options must be an object, not ${shown(options)}`);
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    throw new InvalidOptionError(key, `${what}: there is no option ${shown(key)}; there are ${known.join(', ')}`);
  }
}

/** A whole number of milliseconds. @throws {InvalidOptionError} */
export function duration(option: string, value: unknown, fallback: number, least: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least || value > LONGEST_MS) {
    throw new InvalidOptionError(
      option,
      `${option} ${shown(value)} must be a number of milliseconds from ${least} to ${LONGEST_MS}`,
    );
  }
  return Math.floor(value);
}

/** One of a few words, or of true and false. @throws {InvalidOptionError} */
export function oneOf(option: string, value: unknown, allowed: readonly unknown[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new InvalidOptionError(option, `${option} ${shown(value)} must be ${allowed.map(shown).join(' or ')}`);
}

/** @throws {InvalidOptionError} when the value is there and no function */
export function callable(option: string, value: unknown, required = false): void {
  if (typeof value === 'function' || (value === undefined && !required)) return;
  throw new InvalidOptionError(option, `${option} ${shown(value)} must be a function`);
}

/** @throws {InvalidOptionError} when the value is there and no AbortSignal */
export function abortSignal(option: string, value: unknown): void {
  if (value === undefined || value instanceof AbortSignal) return;
  const fix = value instanceof AbortController ? ": pass the controller's .signal" : '';
  throw new InvalidOptionError(option, `${option} must be an AbortSignal${fix}`);
}
