import { TermRecordError } from '../../errors.js';
import type { Tenure } from '../../tenure.js';
import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { everyElection, oneElection, type Standing } from '../status-text.js';

/** How many elections are read at once. */
const AT_ONCE = 32;

export const status = defineCommand({
  name: 'status',
  summary: 'who leads, and who waits',
  description: [
    'Shows one election with its candidates in order, or, without a name, all elections below the root in a table. ' +
      'It takes no part in any election.',
    'What it shows may be out of date by the time that you read it: good for looking, no licence to act.',
  ],
  operands: [{ name: 'ELECTION', help: 'the name of an election, such as settlement or payments/tenant-7' }],
  options: { ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [
    { what: 'Everything below the root', line: 'tenure status --servers zk1:2181,zk2:2181,zk3:2181' },
    { what: 'One election, with its queue', line: 'tenure status settlement' },
    {
      what: 'Elections that nobody leads',
      line: `tenure status --json | jq -r '.elections[] | select(.leader == null) | .election'`,
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'shown, whether anybody leads or not',
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name] }) {
    await using tenure = await openTenure(context, options);
    const { signal, out } = context;
    if (name !== undefined) {
      const view = await tenure.election(name).current({ signal });
      if (context.json) out.json(view);
      else out.line(oneElection(view, out));
      return EXIT.ok;
    }
    const names = await tenure.elections({ signal });
    const found: Standing[] = [];
    for (let i = 0; i < names.length; i += AT_ONCE) {
      const some = names.slice(i, i + AT_ONCE).map((each) => standing(tenure, each, signal));
      found.push(...(await Promise.all(some)));
    }
    if (context.json) out.json({ elections: found });
    else out.line(found.length === 0 ? `no elections below ${options.root}` : everyElection(found, out));
    return EXIT.ok;
  },
});

/** One that can't be read must not hide the others. */
async function standing(tenure: Tenure, name: string, signal: AbortSignal): Promise<Standing> {
  try {
    return await tenure.election(name).current({ signal });
  } catch (error) {
    if (!(error instanceof TermRecordError)) throw error;
    return { election: name, state: 'unreadable', error: { code: error.code, message: error.message } };
  }
}
