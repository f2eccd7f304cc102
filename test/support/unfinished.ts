import { spawn } from 'node:child_process';
import { Lifeline } from '../../src/lifeline/lifeline.js';
import { after, sharedInstant } from '../../src/lifeline/shared-clock.js';

/*
 * Starts a child as `tenure run` does and dies before it could tell the lifeline which one: killed, or frozen for good. Its
 * arguments: `die` or `freeze`, the mark, and for how many milliseconds the lease is.
 */
const [, , how, mark = '', leaseMs] = process.argv;
const lifeline = Lifeline.acquire(() => {});
if (lifeline === null) throw new Error('no helper could be started');
lifeline.lease(after(sharedInstant(), Number(leaseMs)));
lifeline.childStarting(mark);
const [name = '', value] = mark.split('=');
spawn('sh', ['-c', 'trap "" TERM HUP; sleep 1000 & while :; do sleep 1; done'], {
  detached: true,
  stdio: 'ignore',
  env: { ...process.env, [name]: value },
});
process.kill(process.pid, how === 'die' ? 'SIGKILL' : 'SIGSTOP');
