import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { waitFor } from '../../deploy/local/index.js';
import { check } from '../../src/verify/checker.js';
import type { Aftermath, History } from '../../src/verify/history.js';
import { monotonicMs, sleep } from '../../src/verify/monotonic.js';
import { Random } from '../../src/verify/random.js';
import { report } from '../../src/verify/report.js';
import { timeline } from '../../src/verify/timeline.js';
import { Torment } from '../../src/verify/torment.js';
import type { Operator } from '../support/operator.js';
import { ELECTION, Field } from './field.js';
import { NEMESES } from './nemeses.js';

/*
 * One run of chaos. Started by chaos.ts in a network namespace of its own. Prints the report; the exit code says whether there
 * were violations (1) or not.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    servers: { type: 'string', default: '3' },
    workers: { type: 'string', default: '4' },
    'session-timeout': { type: 'string', default: '3000' },
    only: { type: 'string' },
    'at-once': { type: 'string', default: '3' },
    driver: { type: 'string' },
    out: { type: 'string' },
  },
});
const seed = Number(values.seed);
const sessionTimeoutMs = Number(values['session-timeout']);
const tickTimeMs = Math.floor(sessionTimeoutMs / 10);
const only = values.only?.split(',');
for (const fault of only ?? []) {
  if (!(fault in NEMESES)) throw new Error(`--only ${fault}: there are ${Object.keys(NEMESES).join(', ')}`);
}

const field = await Field.open({
  servers: values.servers === '5' ? 5 : 3,
  workers: Number(values.workers),
  sessionTimeoutMs,
  tickTimeMs,
  ...((values.driver === 'native' || values.driver === 'wire') && { driver: values.driver }),
});
field.watchQuorum();
for (const seat of field.seats) field.start(seat);
await field.everybodyReady();
await waitFor(() => field.leader, { what: 'the first leader' });

const beginAt = monotonicMs();
const faults = Object.fromEntries(Object.entries(NEMESES).filter(([name]) => only?.includes(name) ?? true));
const torment = new Torment(field, faults, {
  random: new Random(seed),
  forMs: Number(values.seconds) * 1_000,
  atOnce: Number(values['at-once']),
});
await torment.run();
const calmAt = monotonicMs();
await field.ensemble.waitForQuorum(60_000);
// A removal that nobody had answered may have come through after its end.
for (const server of await field.members.missing()) await field.members.restore(server);
await field.everybodyReady();
// What the last fault has begun is over by then: a session that has to expire, a patience, a rejoining.
await sleep(3 * sessionTimeoutMs);
const settled = await field.operate(aftermath);
const endAt = monotonicMs();
for (const { worker } of field.seats) worker?.signal('SIGTERM');
await Promise.all(field.seats.map(({ worker }) => worker?.exited));
const left = await field.operate(async (by) => (await by.children(ELECTION)).map((node) => `candidate ${node}`));
for (const { id } of await field.members.missing()) left.push(`server ${id} outside of the ensemble`);

const history: History = {
  version: 1,
  seed,
  settings: { sessionTimeoutMs, tickTimeMs, leaseMs: (sessionTimeoutMs * 2) / 3, slackMs: 2_500, quorumKnown: true },
  beginAt,
  calmAt,
  endAt,
  happenings: [...field.happenings].sort((a, b) => a.at - b.at),
  acts: field.book.acts,
  writes: await field.ledger.writes(),
  batches: await field.ledger.batches(),
  acknowledged: field.book.acknowledged,
  counters: field.book.counters,
  aftermath: { ...settled, left: [...left, ...field.book.failures] },
};
await field.close();

const violations = check(history);
console.log(report(history, violations));
if (values.out !== undefined) {
  mkdirSync(values.out, { recursive: true });
  const file = join(values.out, `seed-${seed}`);
  writeFileSync(`${file}.json`, JSON.stringify({ ...history, violations }, undefined, 1));
  writeFileSync(`${file}.svg`, timeline(history, violations));
  console.log(`history and timeline: ${file}.json, ${file}.svg`);
}
process.exit(violations.length === 0 ? 0 : 1);

async function aftermath(by: Operator): Promise<Omit<Aftermath, 'left'>> {
  const candidates: string[] = [];
  for (const node of await by.children(ELECTION)) {
    const found = await by.session.read(`${by.queuePath(ELECTION)}/${node}`);
    if (found !== null) candidates.push((JSON.parse(Buffer.from(found.data).toString()) as { id: string }).id);
  }
  const sessions = await by.session.children(`${by.root}/sessions`);
  let watches = 0;
  for (const server of field.ensemble.servers) {
    const words = await server.ask('wchs').catch(() => '');
    watches += Number(/Total watches:(\d+)/.exec(words)?.[1] ?? 0);
  }
  const alive = field.seats.flatMap(({ worker }) => (worker !== undefined && !worker.gone ? [worker.who] : []));
  return { alive, candidates, sessionNodes: sessions?.names.length ?? 0, watches, watchesEach: 6 };
}
