import { InvalidTokenError } from '../../errors.js';
import { parseToken } from '../../token.js';
import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { ORDER_OPTIONS, orderOf } from '../control-options.js';
import { EXIT } from '../exit-codes.js';
import { askFence, FENCE_URL_HELP } from '../fences.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';
import { UsageError } from '../usage-error.js';

export const fenceRaise = defineCommand({
  name: 'fence raise',
  summary: 'raise the floor of tokens, after a restore from a backup',
  description: [
    'Every token from now on is above the new floor. It is to be the highest token that any resource has accepted: give ' +
      'it by --to, or give the URLs of all resources, and it is read from them. It can only be raised.',
    "A leader whose token isn't above the floor joins the queue again for a new one. Workers that have ended with " +
      'TOKEN_REGRESSED have to be started again.',
  ],
  operands: [
    { name: 'ELECTION', required: true, help: 'the name of an election' },
    { name: 'URL', repeated: true, help: `the fence of a resource: ${FENCE_URL_HELP}` },
  ],
  options: {
    to: { kind: 'text', placeholder: 'TOKEN', help: 'The new floor. At least the highest token of each URL.' },
    ...ORDER_OPTIONS,
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'To a token that you know', line: "tenure fence raise settlement --to 4294967342 --reason 'restored'" },
    {
      what: 'To the highest that the books have accepted',
      line: "tenure fence raise settlement postgres://ops@db/books#ledger --reason 'restored'",
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'the floor is raised',
    [EXIT.failure]: 'it is there or higher already, or a resource can not be reached; the message says which',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = '', ...urls] }) {
    const asked = options.to === undefined ? null : floorIn(options.to);
    const accepted = await highestOf(urls);
    if (asked !== null && asked < accepted) {
      throw new UsageError(
        `--to ${asked} is below ${accepted}, which a resource has accepted: it would go on to refuse`,
        `--to ${accepted} is enough; without --to it is taken`,
      );
    }
    const to = asked ?? accepted;
    if (to === 0n) {
      throw new UsageError(
        urls.length === 0
          ? 'to which token? Give --to, or the URLs of the resources'
          : 'no resource has accepted any token: there is nothing to exceed',
      );
    }
    await using tenure = await openTenure(context, options);
    const floor = await tenure.election(name).raiseFloor({ ...orderOf(options), to, signal: context.signal });
    if (context.json) context.out.json({ election: name, floor });
    else if (!context.quiet) context.out.line(`the floor of ${visible(name)} is ${floor}: new tokens are above it`);
    return EXIT.ok;
  },
});

async function highestOf(urls: readonly string[]): Promise<bigint> {
  let highest = 0n;
  for (const url of urls) {
    const { accepted } = await askFence(url);
    if (accepted !== null && accepted.token > highest) highest = accepted.token;
  }
  return highest;
}

function floorIn(text: string): bigint {
  try {
    return parseToken(text);
  } catch (error) {
    if (error instanceof InvalidTokenError) throw new UsageError(`--to ${error.message}`);
    throw error;
  }
}
