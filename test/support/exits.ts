import { connect } from '../../src/index.js';

/*
 * A process that must end by itself: after an import alone, or when `close()` is all that it awaits. Its arguments: what to do,
 * and the servers.
 */
const [, , what, servers = ''] = process.argv;

if (what === 'close') {
  const tenure = await connect({ servers, sessionTimeoutMs: 10_000 });
  const term = await tenure.election('exits').campaign();
  term.signal.addEventListener('abort', () => {});
  const observer = tenure.election('exits').observe();
  await observer.next();
  void observer.next().catch(() => {});
  void tenure
    .election('exits')
    .lead(() => {})
    .catch(() => {});
  await tenure.close();
}
if (what === 'fail') await connect({ servers: '127.0.0.1:1', connectTimeoutMs: 200 }).catch(() => {});
process.stdout.write(`${Number(process.hrtime.bigint()) / 1e6}\n`);
