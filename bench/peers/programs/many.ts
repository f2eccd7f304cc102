/**
 * One process of Tenure with many elections; or the raw writes that these take, pipelined, for comparison.
 *
 * many.ts MODULE SERVERS NAME COUNT SESSION_TIMEOUT_MS elections|creates|takeover
 *
 * `elections` joins COUNT elections on `join`, and says how many it leads as that grows. To be run with --expose-gc.
 */
import { createInterface } from 'node:readline';
import { monotonicMs } from '../../../src/verify/monotonic.js';
import { Operator } from '../../../test/support/operator.js';

const [module = '', servers = '', name = '', number = '', timeoutMs = '', what = ''] = process.argv.slice(2);
const count = Number(number);
const say = (event: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
};

function heap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** All at once on one connection, and each a commit of the ensemble's. */
async function pipelined(write: (index: number) => Promise<unknown>): Promise<number> {
  const begin = monotonicMs();
  await Promise.all(Array.from({ length: count }, (_, index) => write(index)));
  return monotonicMs() - begin;
}

async function raw(): Promise<void> {
  say('ready');
  const { session } = await Operator.at(servers);
  const data = Buffer.from(JSON.stringify({ v: 1, id: 'a-host:12345:0123456789abcdef', metadata: {}, joinedAt: '' }));
  const record = Buffer.alloc(400, 'x');
  const root = `/many-${process.pid}`;
  await session.create(root, new Uint8Array(), 'persistent');
  const paths: string[] = [];
  const creates = await pipelined(async (index) => {
    paths[index] = await session.create(`${root}/lock-`, data, 'ephemeral_sequential');
  });
  if (what === 'creates') say('raw', { creates });
  else {
    const keep = Array.from({ length: count }, (_, index) => `${root}/term-${index}`);
    await Promise.all(keep.map((path) => session.create(path, record, 'persistent')));
    const removals = await pipelined((index) => session.remove(paths[index] ?? ''));
    const claims = await pipelined((index) => session.write(keep[index] ?? '', record, 0));
    say('raw', { removals, claims });
    await Promise.all(keep.map((path) => session.remove(path)));
  }
  await session.close();
}

async function elections(): Promise<void> {
  const { connect } = (await import(module)) as typeof import('../../../src/index.js');
  const tenure = await connect({ servers, sessionTimeoutMs: Number(timeoutMs) });
  let joined = 0;
  let led = 0;
  let lost = 0;
  let begin = 0;
  tenure.events.on('joined', () => {
    joined += 1;
    if (joined === count) say('count', { what: 'joined', at: monotonicMs(), took: monotonicMs() - begin });
  });
  say('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'leave') {
      say('count', { what: 'heap', at: monotonicMs(), bytes: heap() });
      continue;
    }
    say('count', { what: 'heap', at: monotonicMs(), bytes: heap() });
    begin = monotonicMs();
    for (let index = 0; index < count; index++) {
      tenure
        .election(`${name}/${index}`)
        .campaign()
        .then(
          (term) => {
            led += 1;
            if (led === count) say('count', { what: 'led', at: monotonicMs(), took: monotonicMs() - begin });
            term.signal.addEventListener('abort', () => {
              lost += 1;
              say('count', { what: 'lost', at: monotonicMs(), lost });
            });
          },
          (error: Error) => say('failed', { error: error.message }),
        );
    }
  }
  await tenure.close();
}

await (what === 'elections' ? elections() : raw());
