import { parseArgs } from 'node:util';

export const USAGE = `Elects, settles and survives: three workers, three ZooKeeper servers, PostgreSQL, and everything that can happen to them.

  npx tsx examples/settlement/demo.ts [--fast] [--keep]

  --fast    short session timeouts and no pauses for reading: under 45 s
  --keep    leave servers and workers running at the end, until Ctrl-C
  --help    this text

Exit code: 0 when every invariant holds, 1 when one doesn't or something is missing, 2 for a wrong option, 130 after Ctrl-C.
Colours only on a terminal, and not with NO_COLOR.
`;

export interface DemoOptions {
  readonly fast: boolean;
  readonly keep: boolean;
  readonly help: boolean;
}

/** @throws an Error whose message names the wrong option */
export function parseOptions(args: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      fast: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return values;
}

/** How fast the demo goes. */
export interface Pace {
  /** The ensemble's tick, in milliseconds: it expires sessions up to one and a half of these late. */
  readonly tickTimeMs: number;
  readonly sessionTimeoutMs: number;
  /** How many batches are settled in peace before the next thing happens. */
  readonly calmBatches: number;
  /** How long the quorum stays away after the last leader has stopped. */
  readonly outageMs: number;
}

export const NORMAL: Pace = { tickTimeMs: 2_000, sessionTimeoutMs: 4_000, calmBatches: 4, outageMs: 4_000 };
export const FAST: Pace = { tickTimeMs: 500, sessionTimeoutMs: 2_000, calmBatches: 2, outageMs: 1_500 };
