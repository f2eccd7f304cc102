import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Attempt } from '../../src/lifeline/attempt.js';
import { T } from '../../src/verify/fault.js';
import { sleep } from '../../src/verify/monotonic.js';
import { sessionIdOf } from '../../src/zookeeper/wire/handshake.js';
import { sessionPassword } from '../support/session-password.js';
import { ELECTION } from './field.js';
import type { Nemesis } from './nemesis.js';

/** What strangers do to the sessions and the queue. */
export const QUEUE_FAULTS: Readonly<Record<string, Nemesis>> = {
  /** Somebody else goes on with a candidate's session: its own connection is closed by the server. */
  take_session: async ({ field, random }) => {
    const queue = await field.atOnce((operator) => operator.queue(ELECTION));
    const owner = queue === undefined || queue.length === 0 ? null : random.pick(queue).owner;
    if (owner === null) return undefined;
    const id = sessionIdOf(owner);
    const server = random.pick(field.ensemble.servers);
    const identity = { id, password: sessionPassword(id) };
    const socket = connect({ host: server.host, port: server.clientPort, noDelay: true });
    const taker = new Attempt(socket, { identity, timeoutMs: T(field), auth: [], requests: [] });
    await Promise.race([taker.done, sleep(500)]).catch(() => {});
    return { detail: owner, ms: random.between(50, T(field) / 2), end: () => taker.destroy() };
  },
  /** A hundred and fifty candidates come at once, and go again after a while. */
  huge_queue: ({ field, random }) => {
    const file = fileURLToPath(new URL('./crowd.ts', import.meta.url));
    const parameters = { servers: field.ensemble.connectString, election: ELECTION, count: 150 };
    const words = ['--pdeathsig', 'KILL', process.execPath, '--import', 'tsx', file, JSON.stringify(parameters)];
    const crowd = spawn('setpriv', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    const gone = new Promise((resolve) => crowd.once('exit', resolve));
    const end = async () => {
      crowd.kill(random.chance(0.5) ? 'SIGTERM' : 'SIGKILL');
      await gone;
    };
    // It may come to lead, and does nothing then.
    return { stalls: true, ms: random.between(2_000, 3 * T(field)), end };
  },
};
