import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { MUTANTS, type Mutant } from './mutants.js';

/*
 * Builds each mutant in a copy of the project and lets the simulation, chaos and, at last, tests that are about it have a go at it, until
 * one finds it. Prints a table; the exit code says whether all were found. First the simulation has to pass without any mutant: else
 * whatever it says of one means nothing.
 */
const { values } = parseArgs({
  options: {
    /** A regular expression for their names. */
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '25' },
    /** `simulation`, or `chaos` for those that the simulation is known to miss. */
    from: { type: 'string', default: 'simulation' },
    /** How far to go: `simulation`, `chaos`, `tests`. */
    upto: { type: 'string', default: 'tests' },
    'chaos-seconds': { type: 'string', default: '45' },
  },
});
const project = fileURLToPath(new URL('../..', import.meta.url));

interface Verdict {
  readonly mutant: Mutant;
  /** What found it, and how it said so; null where nothing did. */
  readonly by: string | null;
  readonly said: string;
}

/** Does it in a copy of the project, which is gone afterwards. */
function inCopy<T>(work: (place: string) => T): T {
  const place = mkdtempSync(join(tmpdir(), 'tenure-mutant-'));
  try {
    copy(place);
    return work(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function copy(place: string): void {
  for (const part of [
    'src',
    'test',
    'deploy',
    'examples',
    'alerts',
    'bench',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'vitest.config.ts',
  ]) {
    cpSync(join(project, part), join(place, part), { recursive: true });
  }
  for (const part of ['node_modules', '.cache']) symlinkSync(join(project, part), join(place, part));
  mkdirSync(join(place, 'docs'), { recursive: true });
}

function run(place: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
  const [command = '', ...args] = words;
  return spawnSync(command, args, {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
    timeout: 400_000,
  });
}

function simulated(place: string): SpawnSyncReturns<string> {
  return run(place, ['npx', 'vitest', 'run', 'test/simulation'], { TENURE_SIMULATION_SEEDS: values.seeds });
}

/** @throws when the simulation finds something where there is nothing to be found */
function control(place: string): void {
  const { status, stdout, stderr } = simulated(place);
  if (status !== 0) throw new Error(`the simulation fails without a mutant:\n${stdout}${stderr}`);
}

function judge(place: string, mutant: Mutant): Verdict {
  const file = join(place, 'src', mutant.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    source.replace(mutant.find, () => mutant.replace),
  );
  if (values.from !== 'chaos') {
    const { status, stdout, stderr } = simulated(place);
    const said = first(`${stdout}${stderr}`, /^\s*[+-]\s+"(.+)",?$/m, /Error: (.+)/);
    if (status !== 0) return { mutant, by: 'simulation', said };
  }
  if (mutant.faults !== undefined && values.upto !== 'simulation') {
    const words = ['npx', 'tsx', 'test/chaos/chaos.ts', '--minutes', `${Number(values['chaos-seconds']) / 60}`];
    const chaos = run(place, [...words, '--only', mutant.faults.join(','), '--out', join(place, 'out')]);
    const found = first(`${chaos.stdout}${chaos.stderr}`, /VIOLATION (?!nothing_to_judge)(.+)/);
    if (chaos.status === 1 && found !== '') return { mutant, by: 'chaos', said: found };
  }
  if (mutant.tests !== undefined && values.upto === 'tests') {
    const tests = run(place, ['npx', 'vitest', 'run', ...mutant.tests]);
    const said = first(`${tests.stdout}${tests.stderr}`, /FAIL\s+(.+)/);
    if (tests.status !== 0) return { mutant, by: 'tests', said };
  }
  return { mutant, by: null, said: '' };
}

/** What the first of the patterns that is anywhere in it finds; colours are none of it. */
function first(text: string, ...patterns: readonly RegExp[]): string {
  const plain = stripVTControlCharacters(text);
  for (const pattern of patterns) {
    const found = pattern.exec(plain)?.[1];
    if (found !== undefined) return found.slice(0, 160);
  }
  return '';
}

if (values.from !== 'chaos') inCopy(control);
const verdicts: Verdict[] = [];
for (const mutant of MUTANTS.filter(({ name }) => new RegExp(values.only).test(name))) {
  const verdict = inCopy((place) => judge(place, mutant));
  verdicts.push(verdict);
  console.log(`| ${mutant.name} | ${verdict.by ?? '**nothing**'} | ${verdict.said.replaceAll('|', '\\|')} |`);
}
const missed = verdicts.filter(({ by }) => by === null);
console.log(`\n${verdicts.length - missed.length} of ${verdicts.length} found`);
process.exit(missed.length === 0 ? 0 : 1);
