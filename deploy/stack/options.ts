import { parseArgs } from 'node:util';

export const USAGE = `Starts everything from the ensemble to the pager, and leaves it running until Ctrl-C: three ZooKeeper servers, PostgreSQL,
three workers, Prometheus with the alerting rules, Alertmanager with its routes, and a receiver that prints what it is sent.

  npx tsx deploy/stack/stack.ts [--fast] [--drill] [--keep]

  --fast    short session timeouts, scrapes and alert windows: a page in seconds
  --drill   make things go wrong first: frequent elections, a frozen leader, a lost quorum
  --keep    keep data and logs after the end
  --help    this text

Exit code: 0 after Ctrl-C, 1 when something is missing or fails, 2 for a wrong option.
`;

export interface StackArguments {
  readonly fast: boolean;
  readonly drill: boolean;
  readonly keep: boolean;
  readonly help: boolean;
}

/** @throws an Error whose message names the wrong option */
export function parseOptions(args: readonly string[]): StackArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      fast: { type: 'boolean', default: false },
      drill: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return values;
}
