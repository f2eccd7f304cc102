import { setTimeout as sleep } from 'node:timers/promises';
import type { Election } from '../../election/election.js';
import type { ElectionView } from '../../election/view.js';
import { CoordinatorError, TermRecordError } from '../../errors.js';
import { anyOf } from '../../signals.js';
import type { Tenure } from '../../tenure.js';
import { type Change, changes } from '../changes.js';
import { changeLine } from '../changes-text.js';
import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import type { Context } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';

/** How often new elections are looked for, where all are followed. */
const LOOK_EVERY_MS = 5_000;

export const watch = defineCommand({
  name: 'watch',
  summary: 'follow elections, a line for each change',
  description: [
    'Prints how each election stands, then a line for each change, until it is stopped. Changes that follow one another ' +
      'faster than they can be read may be told as one.',
    'While the ensemble is out of reach it says so, and goes on when it is back. It ends with code 0 on INT, TERM and when ' +
      'whoever reads its output has gone.',
  ],
  operands: [{ name: 'ELECTION', repeated: true, help: 'the name of an election; without one, all below the root' }],
  options: { ...CONNECTION_OPTIONS, ...COMMON_OPTIONS },
  examples: [
    { what: 'Follow one election', line: 'tenure watch settlement' },
    { what: 'Follow all, and those that are begun later', line: 'tenure watch' },
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
    const { signal } = context;
    const watched = new Map<string, Promise<void>>();
    tenure.events.on('session_state', ({ state }) => {
      if (state === 'connected' || signal.aborted) return;
      for (const election of watched.keys()) tell(context, { change: 'out_of_touch', election });
    });
    const failed = new AbortController();
    const stop = anyOf([signal, failed.signal]);
    const follow = (name: string): void => {
      if (watched.has(name)) return;
      // Made before it is followed: a wrong name is told before anything is watched.
      const election = tenure.election(name);
      const ending = followed(context, election, stop).catch((error: unknown) => {
        if (operands.length > 0 || !(error instanceof TermRecordError)) return failed.abort(error);
        // One of many: told, and tried again when elections are looked for.
        watched.delete(name);
        tell(context, { change: 'unreadable', election: name, message: error.message });
      });
      watched.set(name, ending);
    };
    try {
      for (const name of operands) follow(name);
      while (operands.length === 0) {
        for (const name of await present(tenure, stop)) follow(name);
        await sleep(LOOK_EVERY_MS, undefined, { signal: stop });
      }
      await Promise.all(watched.values());
      failed.signal.throwIfAborted();
    } catch (error) {
      if (!signal.aborted) throw failed.signal.reason ?? error;
    }
    return EXIT.ok;
  },
});

/** None while the ensemble is out of reach. */
async function present(tenure: Tenure, signal: AbortSignal): Promise<string[]> {
  try {
    return await tenure.elections({ signal });
  } catch (error) {
    if (!signal.aborted && error instanceof CoordinatorError && error.retriable) return [];
    throw error;
  }
}

/** Until the signal, or for as long as it can be read. */
async function followed(context: Context, election: Election, signal: AbortSignal): Promise<void> {
  let before: ElectionView | null = null;
  for await (const view of election.observe({ signal })) {
    for (const change of changes(before, view)) tell(context, change);
    before = view;
  }
}

function tell({ out, json }: Context, change: Change): void {
  const time = new Date().toISOString();
  if (json) out.json({ time, ...change });
  else out.line(`${out.style.dim(time)} ${changeLine(change, out.style)}`);
}
