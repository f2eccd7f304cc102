import { startEnsemble, waitFor } from '../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../src/verify/monotonic.js';
import { ActBook } from './acts.js';
import { Operator } from './operator.js';
import { layWire, run } from './wire.js';
import { WorkerProcess } from './worker-process.js';

/*
 * One server, and the leader with it, behind a wire that is cut. To be run in a network namespace of its own, with the number
 * of the server as its argument: 1 follows in the ensemble, 3 leads it. Writes what came of it as one line of JSON.
 */
const T = 4_000;
const inside = { address: '10.20.0.2', wire: '10.20.1.2' };
const outside = { address: '10.20.0.1', wire: '10.20.1.1' };
const index = Number(process.argv[2]) - 1;

const { prefix, close } = await layWire(outside, inside);

const ensemble = await startEnsemble({
  bindHosts: [1, 2, 3].map((id) => (id === index + 1 ? inside.address : outside.address)),
  commandPrefix: (server) => (server === index ? prefix : []),
  fsync: false,
});
const cut = ensemble.servers[index];
if (cut === undefined) throw new Error('the argument is 1, 2 or 3');
const others = ensemble.servers.filter((server) => server !== cut).map((server) => server.address);
const serverLed = (await ensemble.leader()) === cut;

const trusting = new ActBook();
const ours = new ActBook();
const parameters = { election: 'cut-off', sessionTimeoutMs: T };
const insideToo = { ...parameters, id: 'inside', servers: cut.address };
const outsideToo = { ...parameters, id: 'outside', servers: others.join(',') };
const leader = await WorkerProcess.start(insideToo, { book: ours, prefix });
await waitFor(() => leader.lastAct !== undefined, { what: 'the inner worker to lead' });
const naive = await WorkerProcess.start(insideToo, { book: trusting, prefix, program: 'trusting-client' });
const successor = await WorkerProcess.start(outsideToo, { book: ours });
const heir = await WorkerProcess.start(outsideToo, { book: trusting, program: 'trusting-client' });
await sleep(1_500);

const cutAt = monotonicMs();
run('ip link set outer down');
const after = { what: 'the outer ones to lead' };
await waitFor(() => successor.lastAct !== undefined && heir.lastAct !== undefined, after);
// Until the one that trusts its server has noticed, too.
await waitFor(() => monotonicMs() - (naive.lastAct?.at ?? 0) > 1_500, {
  what: 'the trusting client to notice',
});

run('ip link set outer up');
run(`ip route replace ${inside.address} via ${inside.wire} src ${outside.address}`);
await ensemble.waitForQuorum();
const operator = await Operator.at(others.join(','));
const queue = await operator.queueOf('cut-off', 2);
await operator.close();
await Promise.all([leader, naive, successor, heir].map((worker) => worker.kill('SIGTERM')));
await ensemble.close();
close();

const since = (book: ActBook) =>
  book.all.map(({ who, term, first, last }) => ({
    who,
    term,
    first: Math.round(first - cutAt),
    last: Math.round(last - cutAt),
  }));
process.stdout.write(
  `${JSON.stringify({
    serverLed,
    ours: since(ours),
    trusting: since(trusting),
    oursOverlapMs: Math.round(ours.worstOverlapMs),
    trustingOverlapMs: Math.round(trusting.worstOverlapMs),
    tokens: ours.all.map(({ token }) => token.toString()),
    queue: queue.length,
  })}\n`,
);
process.exit();
