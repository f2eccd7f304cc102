import type { Logger } from '../election/host.js';
import type { Output } from './output.js';

/** What a command has of the process that it runs in. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
  readonly err: Output;
  /** Aborted by INT, TERM and HUP, with a {@link Stopped} as reason; and when standard output is closed. */
  readonly signal: AbortSignal;
  /** Writes to standard error, as `--log-level` and `--json` say. */
  readonly logger: Logger;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Why {@link Context.signal} is aborted. `signal` is null when the reader of standard output has gone. */
export class Stopped extends Error {
  readonly signal: NodeJS.Signals | null;

  constructor(signal: NodeJS.Signals | null) {
    super(signal === null ? 'the reader of standard output has gone' : `stopped by ${signal}`);
    this.name = new.target.name;
    this.signal = signal;
  }
}
