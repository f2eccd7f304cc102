import assert from 'node:assert/strict';
import { once } from 'node:events';
import { election, tenure } from './election.js';
import { until } from './place.js';

export { election };

const stop = new AbortController();
const stand = (id: string) =>
  tenure
    .election('settlement', { id })
    .lead((term) => once(term.signal, 'abort'), { signal: stop.signal })
    .catch(() => undefined);

const workers = [stand('worker-1')];
await until(async () => (await election.current()).leader?.id === 'worker-1');
// One more, who leads when worker-1 has stepped back for the pause.
workers.push(stand('worker-3'));
await until(async () => (await election.current()).candidates.length === 2);
workers.push(stand('worker-2'));
await until(async () => (await election.current()).candidates.length === 3);

export async function afterwards(): Promise<void> {
  const entries = await until(async () => {
    const history = await election.history();
    return history.filter(({ kind }) => kind === 'control').length === 3 && history;
  });
  const changes = entries.flatMap((entry) => (entry.kind === 'control' ? [entry.change] : []));
  assert.deepEqual(changes, ['pause', 'resume', 'transfer']);
  await until(async () => (await election.current()).leader?.id === 'worker-2');
  stop.abort();
  await Promise.all(workers);
}
