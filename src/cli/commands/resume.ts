import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { ORDER_OPTIONS, orderOf, QUEUE_OPTION, queueOf } from '../control-options.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';

export const resume = defineCommand({
  name: 'resume',
  summary: 'end a pause',
  description: ['The first candidate in the queue leads within milliseconds.'],
  operands: [{ name: 'ELECTION', required: true, help: 'the name of an election' }],
  options: { ...ORDER_OPTIONS, ...QUEUE_OPTION, ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [{ what: 'Let it go on', line: "tenure resume settlement --reason 'mended'" }],
  exitCodes: {
    [EXIT.ok]: 'it is no longer paused',
    [EXIT.failure]: 'it was not paused, or another failure; the message says which',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = ''] }) {
    await using tenure = await openTenure(context, options);
    const election = tenure.election(name, queueOf(options));
    await election.resume({ ...orderOf(options), signal: context.signal });
    if (context.json) context.out.json({ election: name, paused: null });
    else if (!context.quiet) context.out.line(`${visible(name)} is resumed`);
    return EXIT.ok;
  },
});
