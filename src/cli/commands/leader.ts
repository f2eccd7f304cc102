import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';
import { untilSeen } from '../until-seen.js';
import { CommandFailure } from '../usage-error.js';

export const leader = defineCommand({
  name: 'leader',
  summary: 'print the id of the leader',
  description: [
    'Prints the id of the leader and nothing else. When nobody leads it prints nothing and ends with code 3, so that ' +
      'a script can tell.',
    'A leader may have lost its leadership before you have read its name. Whatever you send to it, let the token decide.',
  ],
  operands: [{ name: 'ELECTION', required: true, help: 'the name of an election' }],
  options: {
    wait: { kind: 'duration', help: 'Wait for a leader for so long, when there is none yet.' },
    token: { kind: 'flag', help: "Print the leader's token instead of its id." },
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'Who leads?', line: 'tenure leader settlement' },
    { what: 'Wait for up to a minute until somebody does', line: 'tenure leader settlement --wait 1m' },
    { what: 'In a script', line: 'if id=$(tenure leader settlement); then echo "$id leads"; fi' },
  ],
  exitCodes: {
    [EXIT.ok]: 'somebody leads',
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.noLeader]: true,
    [EXIT.timeout]: 'nobody led within the time given by --wait',
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = ''] }) {
    await using tenure = await openTenure(context, options);
    const election = tenure.election(name);
    const { signal } = context;
    const view =
      options.wait === undefined
        ? await election.current({ signal })
        : await untilSeen(election, options.wait, signal, ({ leader }) => leader !== null);
    if (view === null) {
      const message = `nobody led ${JSON.stringify(name)} within ${options.wait} ms`;
      throw new CommandFailure(EXIT.timeout, 'NO_LEADER_IN_TIME', message);
    }
    const found = view.leader;
    if (context.json) context.out.json({ election: view.election, state: view.state, leader: found });
    else if (found !== null) context.out.line(options.token ? String(found.token) : visible(found.id));
    return found === null ? EXIT.noLeader : EXIT.ok;
  },
});
