import { defineCommand } from '../command.js';
import { confirm } from '../confirm.js';
import { openTenure } from '../connection.js';
import { YES_OPTION } from '../control-options.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';

export const rm = defineCommand({
  name: 'rm',
  summary: 'remove an election that nobody uses any more',
  description: [
    'Removes its znodes: the queue, the record and the history. Refused while anybody stands in the queue. Where the end ' +
      'of the last term was not announced, it takes until that lease is certainly over.',
    'Its floor is forgotten: where an election of that name is to use the same resources again, raise it again.',
  ],
  operands: [{ name: 'ELECTION', required: true, help: 'the name of an election' }],
  options: { ...YES_OPTION, ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [{ what: 'A tenant has left', line: 'tenure rm payments/tenant-7' }],
  exitCodes: {
    [EXIT.ok]: 'it is gone',
    [EXIT.failure]: 'somebody stands in it, it does not exist, or you said no; the message says which',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = ''] }) {
    await using tenure = await openTenure(context, options);
    await confirm(context, `Remove the election ${visible(name)}, its record and its history?`, options.yes);
    const { term, floor } = await tenure.remove(name, { signal: context.signal });
    if (context.json) context.out.json({ election: name, removed: { term, floor } });
    else if (!context.quiet) {
      context.out.line(`${visible(name)} is removed, after ${term} terms`);
      if (floor > 0n) {
        context.out.line(`its floor was ${floor}: before an election of that name uses the same resources again, run`);
        context.out.line(`  tenure fence raise ${visible(name)} --to ${floor} --reason 'as it was'`);
      }
    }
    return EXIT.ok;
  },
});
