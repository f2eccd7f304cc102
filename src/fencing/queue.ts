/**
 * Guards the handlers of messages from a queue or a log.
 *
 * @module tenure/fencing/queue
 */
import { StaleTokenError } from '../errors.js';
import { InvalidResourceError, MissingTokenError } from './errors.js';
import { type FencedTerm, type FencingObserver, type Guard, tell } from './guard.js';
import { type HeaderValue, type Presented, readFencing } from './http-headers.js';
import { checkTimes, presenter } from './presenter.js';

export { fencingHeaders, type HeaderValue } from './http-headers.js';

/** Options of {@link queueGate}. */
export interface QueueGateOptions<Context, Message> {
  /** Where the highest token of each resource is kept: at the consumers, shared by all of them. */
  guard: Guard<Context>;
  /** How to read a header of a message: `(m, name) => m.headers[name]` for Kafka, `m.properties.headers[name]` for AMQP, … */
  header: (message: Message, name: string) => HeaderValue;
  /** Which resource a message writes to. Default: what its header says. */
  resource?: (message: Message) => string;
  /** How long the handling of one message may hold the fence, in milliseconds. Default 30,000. */
  timeoutMs?: number;
  /** The longest that a message waits for the holds of older terms, in milliseconds. Default `timeoutMs` + 2,000. */
  waitMs?: number;
  /** Told of messages without a token. The guard's own observer is told of the others. */
  observer?: FencingObserver;
}

/** What became of a message. `dropped`: acknowledge it and go on; its sender's term is over. */
export type Handled<T> =
  | {
      /** It was handled under the fence. */
      readonly outcome: 'handled';
      /** What the handler returned. */
      readonly value: T;
    }
  | {
      /** The handler was not called, or what it did was undone. */
      readonly outcome: 'dropped';
      /** Which token is the higher one, and whose. */
      readonly error: StaleTokenError;
    };

/**
 * Handles a message under the fence, or drops it.
 *
 * @throws {MissingTokenError | InvalidTokenError | InvalidResourceError} the message doesn't say, readably, whose it is: never handled; send it to
 * where bad messages go
 * @throws whatever the handler throws: don't acknowledge
 */
export type QueueGate<Context, Message> = <T>(
  message: Message,
  handler: (context: Context, term: FencedTerm) => T | Promise<T>,
) => Promise<Handled<T>>;

/**
 * A gate for the handlers of messages: a message with a lower token than the highest seen is dropped, so that what an old leader sent late, or a
 * broker delivers late, does nothing after a newer leader's message has been handled.
 *
 * The order is that of *handling*: what the old leader sent in time is dropped too, if it is handled after the new leader's first message.
 * Where such a message must not be lost, the new leader sends it again in its recovery; then its effect needs an idempotency key.
 */
export function queueGate<Context, Message>(options: QueueGateOptions<Context, Message>): QueueGate<Context, Message> {
  const { guard, header, timeoutMs = 30_000, waitMs, observer } = options;
  checkTimes('queueGate', 1, { timeoutMs, waitMs });
  return async (message, handler) => {
    const own = options.resource?.(message);
    const { token, resource, holder } = identify((name) => header(message, name), own);
    if (token === undefined || resource === undefined) {
      tell(() => observer?.check?.(resource ?? 'other', 'missing'));
      throw new MissingTokenError(
        resource,
        `a message without a ${token === undefined ? 'fencing token' : 'resource'}`,
      );
    }
    const term = presenter(token, { holder, timeoutMs, waitMs });
    try {
      return { outcome: 'handled', value: await guard.hold(term, resource, (context) => handler(context, term)) };
    } catch (error) {
      // Only a refusal of this message: the handler may have presented another token elsewhere.
      if (error instanceof StaleTokenError && error.resource === resource && error.token === token)
        return { outcome: 'dropped', error };
      throw error;
    }
  };
}

function identify(header: (name: string) => HeaderValue, own: string | undefined): Presented {
  const presented = readFencing(header);
  if (own !== undefined && presented.resource !== undefined && presented.resource !== own) {
    throw new InvalidResourceError(
      `the message names ${JSON.stringify(presented.resource)}, but writes to ${JSON.stringify(own)}`,
    );
  }
  return { ...presented, resource: own ?? presented.resource };
}
