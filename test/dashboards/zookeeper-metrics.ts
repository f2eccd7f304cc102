import { readFileSync } from 'node:fs';

/**
 * What ZooKeeper's provider of metrics for Prometheus exports, with its kind: a list that was taken from real servers, and
 * that a test compares with them.
 */
export function exported(): Map<string, string> {
  const text = readFileSync(new URL('zookeeper-metrics.txt', import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.flatMap((line) => series(...(line.split(' ') as [string, string]))));
}

/** The series of one metric: a summary is a gauge with quantiles, and two counters. */
export function series(name: string, kind: string): [string, string][] {
  if (kind !== 'summary') return [[name, kind]];
  return [
    [name, 'gauge'],
    [`${name}_count`, 'counter'],
    [`${name}_sum`, 'counter'],
  ];
}
