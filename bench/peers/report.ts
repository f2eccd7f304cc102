import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import type { Contender } from './contenders.js';
import { figures, type Samples } from './figures.js';

/** Where and when, as far as it weighs on the figures. */
export interface Machine {
  readonly at: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryGiB: number;
  readonly kernel: string;
  /** Of the last minute, at the start. */
  readonly load: number;
  readonly versions: Readonly<Record<string, string>>;
}

export function machine(zookeeper: string): Machine {
  const first = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).split('\n')[0] ?? '';
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return {
    at: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    load: load(),
    versions: {
      Tenure: version,
      ZooKeeper: zookeeper,
      etcd: first('etcd', '--version').replace(/^.*: /, ''),
      'Node.js': process.version,
    },
  };
}

export const load = (): number => Math.round((loadavg()[0] ?? Number.NaN) * 10) / 10;

export function described({ at, cores, processor, memoryGiB, kernel, versions }: Machine): string {
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${at}, ${cores} cores (${processor}), ${memoryGiB} GiB, Linux ${kernel}; ${software.join(', ')}`;
}

export const ms = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return 'never told';
  if (Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 1_000) return `${(value / 1_000).toFixed(2)} s`;
  return `${Math.abs(value) < 100 ? value.toFixed(1) : Math.round(value)} ms`;
};

/** A table of Markdown. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...body.map(line)].join('\n');
}

/** One row for each that was measured, in the given order. */
export function rows(
  samples: Samples,
  names: readonly { readonly name: string; readonly label: string }[],
  told: (value: number) => string = ms,
): string[][] {
  return names
    .filter(({ name }) => samples.of(name).length > 0)
    .map(({ name, label }) => {
      const { samples: count, median, p99, least, most } = figures(samples.of(name));
      return [label, String(count), told(median), told(p99), told(least), told(most)];
    });
}

export const HEAD = ['', 'samples', 'median', 'p99', 'shortest', 'longest'] as const;

export const labelled = (samples: Samples): { name: string; label: string }[] =>
  samples.names.map((name) => ({ name, label: name }));

export const settings = (all: readonly Contender[]): string =>
  all.map(({ label, setting }) => `- ${label}: ${setting}.`).join('\n');
