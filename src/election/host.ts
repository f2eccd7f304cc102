import type { Clock } from '../lease/clock.js';
import type { EventSink } from './events.js';
import type { Stoppable } from './stop.js';
import { abortable } from './waiting.js';

/** A logger as pino and its peers have it: an object of fields first, a message second. */
export interface Logger {
  /** What helps to follow the protocol. */
  debug(fields: object, message: string): void;
  /** What happens in the ordinary course: elected, resigned. */
  info(fields: object, message: string): void;
  /** What somebody should look at. */
  warn(fields: object, message: string): void;
  /** What went wrong. */
  error(fields: object, message: string): void;
}

/** What everything here needs of the process it runs in; the simulation brings its own. */
export interface Host {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly uuid: () => string;
  readonly logger: Logger;
  readonly emit: EventSink;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Waits by the host's clock. @throws `signal.reason` when aborted */
export function sleep(host: Host, ms: number, signal?: Stoppable): Promise<void> {
  return abortable<void>(signal, (resolve) => host.clock.after(ms, resolve));
}
