import type { ElectionView } from '../../election/view.js';
import { type Change, changes } from '../changes.js';
import { changeLine } from '../changes-text.js';
import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import type { Context } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';

export const watch = defineCommand({
  name: 'watch',
  summary: 'follow elections, a line for each change',
  description: [
    'Prints how each election stands, then a line for each change, until it is stopped. Changes that follow one another ' +
      'faster than they can be read may be told as one.',
    'While the ensemble is out of reach it says so, and goes on when it is back. It ends with code 0 on INT, TERM and when ' +
      'whoever reads its output has gone.',
  ],
  operands: [{ name: 'ELECTION', required: true, repeated: true, help: 'the name of an election' }],
  options: { ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [
    { what: 'Follow one election', line: 'tenure watch settlement' },
    {
      what: 'Act on each new leader',
      line: `tenure watch settlement --json | jq --unbuffered -r 'select(.change == "elected") | .leader.id'`,
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'stopped by a signal, or nobody reads any more',
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.unreachable]: 'no session with the ensemble at the start',
    [EXIT.denied]: true,
  },
  async run(context, { options, operands }) {
    await using tenure = await openTenure(context, options);
    const names = [...new Set(operands)];
    tenure.events.on('session_state', ({ state }) => {
      if (state === 'connected' || context.signal.aborted) return;
      for (const election of names) tell(context, { change: 'out_of_touch', election });
    });
    // A wrong name is told before anything is watched.
    const elections = names.map((name) => tenure.election(name));
    try {
      await Promise.all(
        elections.map(async (election) => {
          let before: ElectionView | null = null;
          for await (const view of election.observe({ signal: context.signal })) {
            for (const change of changes(before, view)) tell(context, change);
            before = view;
          }
        }),
      );
    } catch (error) {
      if (!context.signal.aborted) throw error;
    }
    return EXIT.ok;
  },
});

function tell({ out, json }: Context, change: Change): void {
  const time = new Date().toISOString();
  if (json) out.json({ time, ...change });
  else out.line(`${out.style.dim(time)} ${changeLine(change, out.style)}`);
}
