import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500 });
});

afterAll(() => ensemble?.close());

/** Runs a scenario in a process of its own, which has to end by itself and well. */
async function run(name: string): Promise<{ result: unknown; stderr: string }> {
  const script = fileURLToPath(new URL('scenarios.ts', import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', script, name, ensemble.connectString],
    { timeout: 25_000 },
  );
  return { result: stdout === '' ? undefined : JSON.parse(stdout), stderr };
}

it('a process that has closed its session ends by itself, and the addon writes nothing', async () => {
  expect(await run('quiet life')).toEqual({ result: undefined, stderr: '' });
});

it('closing from a listener, or from the continuation of an operation, is safe', async () => {
  expect((await run('close in a reaction')).result).toBe('survived');
});

it('a socket or a session opened on the news of a disconnect works', async () => {
  expect((await run('socket in a reaction')).result).toBe(10);
});

it('one function can listen to two sessions', async () => {
  // Each session: one change, and its end.
  expect((await run('one function, two sessions')).result).toBe(4);
});

it('a worker thread is refused the driver, and the main thread’s session lives on', async () => {
  expect((await run('worker thread')).result).toEqual(['DRIVER_UNAVAILABLE', 'success']);
});

it('an addon whose connections go to child processes is told of, and no other', async () => {
  const { result } = await run('child process');
  expect(result).toEqual(
    process.platform === 'linux' && (result as { warned: boolean }).warned
      ? { warned: true, spins: true }
      : { warned: false, spins: false },
  );
});

it('a listener that throws keeps nothing from the others and is reported', async () => {
  expect((await run('throwing listener')).result).toEqual(['changed', ['mine']]);
});

it('the operations that crash or leak are not used at all', () => {
  const directory = fileURLToPath(new URL('../../../src/zookeeper/native/', import.meta.url));
  for (const file of readdirSync(directory)) {
    expect(readFileSync(`${directory}${file}`, 'utf8')).not.toMatch(/\.(a_get_acl|aw_\w+|set_servers)\b/);
  }
});
