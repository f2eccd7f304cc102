import { defineCommand } from '../command.js';
import { confirm } from '../confirm.js';
import { openTenure } from '../connection.js';
import { ORDER_OPTIONS, orderOf, QUEUE_OPTION, queueOf, YES_OPTION } from '../control-options.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';

export const evict = defineCommand({
  name: 'evict',
  summary: 'take a candidate out of the queue',
  description: [
    'For a ghost, whose process is gone while something keeps its session alive, and for candidates of other libraries. ' +
      'Its znode is deleted. A candidate of Tenure that lives joins again at the end of the queue.',
    'A leader loses its term at once, if it can hear; the next one waits until its lease is certainly over.',
  ],
  operands: [
    { name: 'ELECTION', required: true, help: 'the name of an election' },
    { name: 'CANDIDATE', required: true, help: 'its id, or its znode as tenure status shows it' },
  ],
  options: { ...ORDER_OPTIONS, ...YES_OPTION, ...QUEUE_OPTION, ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [
    { what: 'A ghost', line: "tenure evict settlement worker-1 --reason 'its host is gone'" },
    {
      what: 'One of several with the same id',
      line: "tenure evict settlement _c_6f1c7f0e-6a0b-4c55-9a57-1f1a8a4f3c11-lock-0000000041 --reason 'twins' --yes",
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'its znode is deleted',
    [EXIT.failure]: 'there is no such candidate, you said no, or another failure; the message says which',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = '', candidate = ''] }) {
    await using tenure = await openTenure(context, options);
    const election = tenure.election(name, queueOf(options));
    if (!options.yes) {
      const { leader } = await election.current({ signal: context.signal });
      const leads = leader !== null && (leader.node === candidate || leader.id === candidate);
      const what = `Evict ${visible(candidate)} from ${visible(name)}?`;
      await confirm(context, leads ? `${what} It leads.` : what, false);
    }
    const evicted = await election.evict({ ...orderOf(options), node: candidate, signal: context.signal });
    if (context.json) context.out.json({ election: name, evicted });
    else if (!context.quiet) {
      const led = evicted.led ? ': its term is over, and the next one waits out its lease' : '';
      context.out.line(`${visible(evicted.id)} (${visible(evicted.node)}) is evicted from ${visible(name)}${led}`);
    }
    return EXIT.ok;
  },
});
