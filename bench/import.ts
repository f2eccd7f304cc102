import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/*
 * What importing an entry point costs a process: time until it is there, and memory that stays, against a process that imports
 * nothing. Needs `make build`. Entry points take turns, so that their differences say more than figures of a busy machine.
 *
 *   npx tsx bench/import.ts [rounds]
 */
const ROOT = resolve(import.meta.dirname, '..');
const rounds = Number(process.argv[2] ?? 15);
const entries = ['', '@opentelemetry/api', 'tenure', 'tenure/fencing/postgres', 'tenure/telemetry'];

const folder = mkdtempSync(join(tmpdir(), 'tenure-import-'));
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
const program = (entry: string): string => {
  const name = entry.replace(/^tenure/, '');
  const path = entry.startsWith('tenure')
    ? name === ''
      ? 'index'
      : name === '/fencing/postgres'
        ? name.slice(1)
        : `${name.slice(1)}/index`
    : null;
  const from = path === null ? entry : join(ROOT, 'dist', `${path}.js`);
  const file = join(folder, `${entry.replaceAll(/\W/g, '-') || 'nothing'}.mjs`);
  writeFileSync(
    file,
    `const from = performance.now();
     ${entry === '' ? '' : `await import(${JSON.stringify(from)});`}
     const ms = performance.now() - from;
     globalThis.gc();
     const { rss, heapUsed } = process.memoryUsage();
     console.log(JSON.stringify({ ms, rss, heapUsed }));`,
  );
  return file;
};

interface Sample {
  readonly ms: number;
  readonly rss: number;
  readonly heapUsed: number;
}

const samples = new Map<string, Sample[]>(entries.map((entry) => [entry, []]));
const files = entries.map(program);
for (let round = 0; round < rounds; round++) {
  for (const [index, entry] of entries.entries()) {
    const out = execFileSync(process.execPath, ['--expose-gc', files[index] ?? ''], { cwd: ROOT, encoding: 'utf8' });
    samples.get(entry)?.push(JSON.parse(out) as Sample);
  }
}
rmSync(folder, { recursive: true, force: true });

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const of = (entry: string, key: keyof Sample): number =>
  median((samples.get(entry) ?? []).map((sample) => sample[key]));
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

console.log(`Node.js ${process.version}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, medians of ${rounds}\n`);
console.log('| import | time | memory (RSS), more | heap, more |');
console.log('|---|---|---|---|');
for (const entry of entries.slice(1)) {
  const more = (key: 'rss' | 'heapUsed'): string => mib(of(entry, key) - of('', key));
  console.log(`| \`${entry}\` | ${of(entry, 'ms').toFixed(0)} ms | ${more('rss')} | ${more('heapUsed')} |`);
}
console.log(`\nA process that imports nothing: ${mib(of('', 'rss'))}.`);
