/** From harmless to grave. `notice`: worth knowing. `warning`: mend it before it hurts. `error`: it hurts now, or will at the next failure. */
export const SEVERITIES = ['ok', 'notice', 'warning', 'error'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** What was looked at; stable, for scripts. */
export type Check =
  | 'reachability'
  | 'versions'
  | 'quorum'
  | 'membership'
  | 'words'
  | 'session_timeout'
  | 'round_trips'
  | 'clock_skew'
  | 'access'
  | 'acl'
  | 'headroom'
  | 'records'
  | 'orphans'
  | 'dead_elections'
  | 'leaders'
  | 'native_driver';

export interface Finding {
  readonly check: Check;
  readonly severity: Severity;
  /** What was found, a sentence without a full stop. */
  readonly message: string;
  /** What to do; null where nothing is to be done. */
  readonly fix: string | null;
}

export const ok = (check: Check, message: string): Finding => ({ check, severity: 'ok', message, fix: null });

export function finding(check: Check, severity: Exclude<Severity, 'ok'>, message: string, fix: string): Finding {
  return { check, severity, message, fix };
}

export function worst(findings: readonly Finding[]): Severity {
  const found = findings.map(({ severity }) => SEVERITIES.indexOf(severity));
  return SEVERITIES[Math.max(0, ...found)] ?? 'ok';
}
