import type { Election, Transfer } from '../../index.js';
import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { ORDER_OPTIONS, orderOf } from '../control-options.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';
import { untilSeen } from '../until-seen.js';
import { CommandFailure } from '../usage-error.js';

export const transfer = defineCommand({
  name: 'transfer',
  summary: 'hand the leadership to another candidate',
  description: [
    'The leader stops its work, and whoever stands before the target joins the queue again behind it. The target has to ' +
      'be among the first 16 behind the leader. A tenure run that leads joins again with --restart on-failure or always ' +
      'only, and else ends with code 123.',
    'It is void when the target leaves or the deadline passes. A later transfer, or a pause, takes its place.',
  ],
  operands: [{ name: 'ELECTION', required: true, help: 'the name of an election' }],
  options: {
    to: {
      kind: 'text',
      placeholder: 'CANDIDATE',
      required: true,
      help: 'Who is to lead next: its id, or its znode as tenure status shows it.',
    },
    deadline: { kind: 'duration', default: 60_000, help: 'After this it is void.' },
    wait: { kind: 'duration', help: 'Wait for so long until the target leads. Default: not at all.' },
    ...ORDER_OPTIONS,
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'Before a host goes down', line: "tenure transfer settlement --to worker-2 --reason 'host a goes down'" },
    {
      what: 'And see it done',
      line: "tenure transfer settlement --to worker-2 --reason 'host a goes down' --wait 30s",
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'it is asked for; with --wait, the target leads',
    [EXIT.failure]: 'it is refused, or the target has left; the message says why',
    [EXIT.usage]: true,
    [EXIT.timeout]: 'the target did not lead within the time of --wait',
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = ''] }) {
    await using tenure = await openTenure(context, options);
    const election = tenure.election(name);
    const { signal, out } = context;
    const asked = await election.transfer({
      ...orderOf(options),
      to: options.to,
      deadlineMs: options.deadline,
      signal,
    });
    if (options.wait !== undefined) await untilDone(election, asked, options.wait, signal);
    const done = options.wait !== undefined;
    if (context.json) out.json({ election: name, transfer: asked, done });
    else if (!context.quiet) {
      const to = visible(options.to);
      out.line(done ? `${to} leads ${visible(name)}` : `${visible(name)} is being transferred to ${to}`);
    }
    return EXIT.ok;
  },
});

async function untilDone(election: Election, { to }: Transfer, waitMs: number, signal: AbortSignal): Promise<void> {
  const decided = await untilSeen(
    election,
    waitMs,
    signal,
    ({ leader, candidates }) => leader?.node === to || !candidates.some(({ node }) => node === to),
  );
  if (decided === null) {
    throw new CommandFailure(EXIT.timeout, 'NOT_TRANSFERRED_IN_TIME', `${to} did not lead within ${waitMs} ms`);
  }
  if (decided.leader?.node === to) return;
  throw new CommandFailure(EXIT.failure, 'TARGET_LEFT', `${to} has left the queue: the next one leads instead`);
}
