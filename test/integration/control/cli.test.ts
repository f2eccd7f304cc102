import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Ensemble, onExit, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { fileGuard } from '../../../src/fencing/file.js';
import { Contender, type ContenderOptions } from '../../support/contender.js';
import { SidecarProcess } from '../agent/sidecar-process.js';
import { tenure } from './command.js';

/* The operator's commands, in processes of their own. */

let ensemble: Ensemble;
let directory: string;
const entered: Contender[] = [];
const run = (...words: string[]) => tenure(ensemble.connectString, words);

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  directory = await mkdtemp(join(tmpdir(), 'tenure-control-'));
});

afterEach(async () => {
  await Promise.all(entered.splice(0).map((contender) => contender.stop()));
});

afterAll(async () => {
  await ensemble?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
});

async function enter(name: string, id: string, options: ContenderOptions = {}): Promise<Contender> {
  const contender = await Contender.enter(ensemble.connectString, name, id, { sessionTimeoutMs: 4_000, ...options });
  entered.push(contender);
  await contender.joined();
  return contender;
}

it('pause, resume, transfer and history, told in words and in JSON', async () => {
  const a = await enter('told', 'a');
  await a.leading();
  const b = await enter('told', 'b');
  const paused = await run('pause', 'told', '--reason', 'a drill', '--wait', '20s');
  expect(paused).toMatchObject({ code: 0, out: 'told is paused: nobody leads until tenure resume told\n' });
  const again = await run('pause', 'told', '--reason', 'a drill', '--json');
  expect(again.code).toBe(1);
  expect(JSON.parse(again.err)).toMatchObject({ error: { code: 'ALREADY_PAUSED', exitCode: 1 } });
  expect((await run('status', 'told')).out).toContain('a drill');
  const resumed = await run('resume', 'told', '-r', 'over', '--json');
  expect(JSON.parse(resumed.out)).toEqual({ election: 'told', paused: null });
  await waitFor(() => a.leads || b.leads, { what: 'a leader again' });
  const [leader, other] = b.leads ? [b, a] : [a, b];
  const done = await run('transfer', 'told', '--to', other.id, '-r', 'a drill', '--wait', '20s');
  expect(done).toMatchObject({ code: 0, out: `${other.id} leads told\n` });
  expect(other.leads).toBe(true);
  const refused = await run('transfer', 'told', '--to', other.id, '-r', 'a drill');
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('TRANSFER_REFUSED');
  const told = await waitFor(
    async () => {
      const { out } = await run('history', 'told');
      return out.includes('term 2') && out;
    },
    { what: 'the second term in the history' },
  );
  expect(told).toMatch(/term 1 paused +a +led for .*then nobody for .*token \d+/);
  expect(told).toMatch(/paused +ada +a drill/);
  expect(told).toMatch(/resumed +ada +over/);
  expect(told).toMatch(/transferred to +ada +_c_/);
  expect(told).toMatch(new RegExp(`term 2 transferred +${leader.id}`));
  const json = JSON.parse((await run('history', 'told', '--json', '-n', '1')).out);
  expect(json.entries).toHaveLength(1);
  expect(json.entries[0].token).toMatch(/^\d+$/);
}, 120_000);

it('what can not be undone asks first, and refuses where nobody can be asked', async () => {
  const a = await enter('asked', 'a');
  await a.leading();
  const silent = await run('evict', 'asked', 'a', '-r', 'a ghost');
  expect(silent.code).toBe(2);
  expect(silent.err).toContain('Evict a from asked? It leads. Nobody can be asked here');
  expect(a.leads).toBe(true);
  const evicted = await run('evict', 'asked', 'a', '-r', 'a ghost', '--yes', '--json');
  expect(JSON.parse(evicted.out)).toMatchObject({ election: 'asked', evicted: { id: 'a', led: true } });
  const inUse = await run('rm', 'asked', '--yes');
  expect(inUse.code).toBe(1);
  expect(inUse.err).toContain('ELECTION_IN_USE');
  await a.leading(2);
  await a.stop();
  entered.splice(entered.indexOf(a), 1);
  expect((await run('rm', 'asked')).code).toBe(2);
  expect(await run('rm', 'asked', '--yes')).toMatchObject({ code: 0, out: 'asked is removed, after 2 terms\n' });
  expect((await run('history', 'asked')).err).toContain('UNKNOWN_ELECTION');
}, 120_000);

it('says what is wrong with a command line before it does anything', async () => {
  for (const [words, said] of [
    [['pause', 'x'], '--reason TEXT is required'],
    [['pause', 'x', '-r', ' '], 'must be text'],
    [['transfer', 'x', '-r', 'y'], '--to CANDIDATE is required'],
    [['fence', 'raise', 'x', '-r', 'y'], 'to which token?'],
    [['fence', 'raise', 'x', '-r', 'y', '--to', '1.5'], 'is not a fencing token'],
    [['fence', 'x', 'mysql://db#ledger'], 'there is no guard for mysql:'],
    [['fence', 'x', 'postgres://ops:secret@db/books'], 'postgres://…@db/books#ledger'],
    [['hold'], 'hold needs --reason'],
    [['hold', '-r', 'x', '--agent', 'ftp://x'], '--agent "ftp://x" must be an address'],
  ] as const) {
    const { code, err } = await run(...words);
    expect(err, words.join(' ')).toContain(said);
    expect(err).not.toContain('secret');
    expect(code, words.join(' ')).toBe(2);
  }
  const away = await run('hold', '--reason', 'x', '--agent', 'http://127.0.0.1:1');
  expect(away.code).toBe(5);
  expect(away.err).toContain('SIDECAR_UNREACHABLE');
}, 120_000);

it('a hold by a file stops this process alone, without a word to the ensemble', async () => {
  const file = join(directory, 'hold');
  const a = await enter('held', 'a', { holdFile: file });
  const term = await a.leading();
  const b = await enter('held', 'b');
  expect(await run('hold', '--file', file, '--reason', 'a new disk')).toMatchObject({
    code: 0,
    out: `held: ${file}\n`,
  });
  expect(await a.lost(term)).toBe('held');
  expect(a.tenure.held).toBe('a new disk');
  await b.leading(1);
  const other = b.terms[0];
  await b.stop();
  entered.splice(entered.indexOf(b), 1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(a.terms).toEqual([term]);
  expect(await a.election.campaign({ wait: false })).toBeNull();
  expect(await run('hold', '--release', '--file', file)).toMatchObject({ code: 0 });
  expect((await a.leading(2)).previous?.token).toBe(other?.token);
  expect((await run('hold', '--release', '--file', file)).err).toContain('NOT_HELD');
}, 60_000);

it('who is held from the start joins nothing until it is released', async () => {
  const file = join(directory, 'from-the-start');
  await writeFile(file, 'not yet\nand more\n');
  const contender = await Contender.enter(ensemble.connectString, 'held-early', 'a', { holdFile: file });
  entered.push(contender);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(contender.tenure.held).toBe('not yet');
  expect(contender.count('joined')).toBe(0);
  // Two holds: released when both are.
  const release = contender.election.hold({ reason: 'and this' });
  await rm(file);
  await waitFor(() => contender.tenure.held === null, { what: 'the first hold to be released' });
  expect(contender.election.held).toBe('and this');
  expect(contender.count('joined')).toBe(0);
  release();
  release();
  await contender.leading();
}, 60_000);

it('a hold through the sidecar', async () => {
  const sidecar = await (await SidecarProcess.start(ensemble.connectString)).ready();
  const client = await sidecar.join('held-sidecar', 'w');
  await client.until('leading');
  expect(await run('hold', '--agent', sidecar.url, '--reason', 'a new disk')).toMatchObject({ code: 0 });
  await client.until('draining');
  await client.put({ settled: true });
  await client.until('held');
  expect(await run('hold', '--agent', sidecar.url, '--release')).toMatchObject({ code: 0 });
  await client.until('leading');
  await sidecar.stop();
}, 90_000);

it('a leader that was frozen before the pause is refused by the fence that the pause has raised', async () => {
  const books = join(directory, 'books');
  const path = fileURLToPath(new URL('./guarded-worker.ts', import.meta.url));
  const words = ['--import', 'tsx', path, ensemble.connectString, 'frozen', 'w', books];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const forget = onExit(() => child.kill('SIGKILL'));
  const lines: Record<string, string>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  try {
    const { wrote } = await waitFor(() => lines.find((line) => line['wrote'] !== undefined), { what: 'a first write' });
    child.kill('SIGSTOP');
    const url = `${books}#ledger`;
    const paused = await run('pause', 'frozen', '-r', 'it hangs', '--guard', url, '--wait', '1s', '--json');
    expect(paused.code).toBe(0);
    const raised = String(BigInt(wrote ?? '') + 1n);
    expect(JSON.parse(paused.out)).toMatchObject({
      leader: { id: 'w', token: wrote },
      fences: [{ resource: 'ledger', token: raised }],
    });
    const before = await readFile(join(books, 'books.txt'), 'utf8');
    child.kill('SIGCONT');
    await waitFor(() => lines.some((line) => line['refused'] !== undefined), { what: 'the late write to be refused' });
    expect(lines.at(-1)).toEqual({ refused: 'STALE_TOKEN' });
    expect(await readFile(join(books, 'books.txt'), 'utf8')).toBe(before);
    // The next term's token is above the fence, whoever leads it.
    child.kill('SIGKILL');
    await run('resume', 'frozen', '-r', 'over');
    const a = await enter('frozen', 'next');
    const term = await a.leading(1, 40_000);
    await fileGuard({ directory: books }).publish(term, 'ledger', 'books.txt', 'next');
    expect(term.token).toBeGreaterThanOrEqual(BigInt(raised));
  } finally {
    child.kill('SIGKILL');
    forget();
  }
}, 90_000);
