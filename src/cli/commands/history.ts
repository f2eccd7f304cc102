import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { historyText } from '../history-text.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';

export const history = defineCommand({
  name: 'history',
  summary: 'who led, how it ended, and who changed what',
  description: [
    'The last terms that are over, with who led, for how long, how it ended and how long nobody led then; and what ' +
      'operators did, with who and why. Oldest first; at most 50 are kept.',
    'It is written beside the elections, by those who lead, and by their clocks. What a process did not live to write ' +
      'is missing.',
  ],
  operands: [{ name: 'ELECTION', required: true, help: 'the name of an election' }],
  options: {
    last: { kind: 'count', short: 'n', placeholder: 'N', default: 50, help: 'Show only so many, the newest ones.' },
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'What has happened?', line: 'tenure history settlement' },
    {
      what: 'How long did nobody lead, in all?',
      line: `tenure history settlement --json | jq '[.entries[].leaderlessMs // 0] | add'`,
    },
  ],
  exitCodes: {
    [EXIT.ok]: true,
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = ''] }) {
    await using tenure = await openTenure(context, options);
    const all = await tenure.election(name).history({ signal: context.signal });
    const entries = options.last === 0 ? [] : all.slice(-options.last);
    if (context.json) context.out.json({ election: name, entries });
    else if (entries.length > 0) context.out.line(historyText(entries, context.out));
    else context.out.line(`nothing has ended in ${visible(name)} yet`);
    return EXIT.ok;
  },
});
