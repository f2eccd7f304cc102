/**
 * Guards what is asked of an HTTP service: a middleware for the service, and a `fetch` for its clients.
 *
 * @module tenure/fencing/http
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { InvalidTokenError } from '../errors.js';
import { FenceTimeoutError, InvalidResourceError } from './errors.js';
import { type FencedTerm, type FencingObserver, type Guard, tell } from './guard.js';
import { Disconnected, HoldTimedOut, KeptEnd, mute, RolledBack } from './http-ending.js';
import { type Presented, RESOURCE_HEADER, readFencing, TOKEN_HEADER } from './http-headers.js';
import { type Problem, problemOf, sendProblem } from './http-problem.js';
import { checkTimes, PresentedTerm } from './presenter.js';

export { type FencedFetchOptions, fencedFetch } from './http-client.js';
export { fencingHeaders, HOLDER_HEADER, RESOURCE_HEADER, TOKEN_HEADER } from './http-headers.js';
export { PROBLEM_TYPES } from './http-problem.js';

/** Options of {@link fencing}. */
export interface FencingOptions<Context> {
  /** Where the highest tokens are kept, and who holds them. */
  guard: Guard<Context>;
  /**
   * Which resource a request writes to. Then a `Fencing-Resource` header may be absent, and is refused (400) when it names another. Without
   * this the header decides: only where the handler writes to nothing but what the header names.
   */
  resource?: (request: IncomingMessage) => string;
  /**
   * The longest that a request may hold the fence, in milliseconds. Default 10,000. After that it is answered with 503, its signal is
   * aborted, and newer terms get through.
   */
  timeoutMs?: number;
  /** The longest that a request waits for the holds of older terms, in milliseconds. Default `timeoutMs` + 2,000. Then 503. */
  waitMs?: number;
  /** Told of requests that presented nothing. The guard's own observer is told of the others. */
  observer?: FencingObserver;
}

/** What a handler finds behind the middleware. */
export interface FencedRequest<Context> {
  /** The term that the request presented: its token, and the time that is left of the hold. */
  readonly term: FencedTerm;
  /** The resource whose fence is held. */
  readonly resource: string;
  /** What the guard gives to those who hold its fence: the transaction of a PostgresGuard, … */
  readonly context: Context;
  /** Aborted when the hold is over before the handler is: timed out, or the client has gone. */
  readonly signal: AbortSignal;
}

/** Express middleware (and connect's, and `node:http`'s with a `next` of your own). */
export interface FencingMiddleware<Context> {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  /** @throws {TypeError} when the request has not come through this middleware. */
  of(request: IncomingMessage): FencedRequest<Context>;
}

/**
 * Lets a request through only with a token that is not lower than the highest accepted one, and holds the fence until the response ends: a handler
 * that was let through and is slow must not write after a newer term has been served.
 *
 * The end of the response is kept back until the guard has let go: when a client reads an answer below 400, what was written under the fence is
 * committed. With a status of 400 and above it is rolled back, where the guard can.
 *
 * Answers by itself, as `application/problem+json`: 409 stale, 428 missing, 400 malformed, 503 held by an older term for too long.
 */
export function fencing<Context>(options: FencingOptions<Context>): FencingMiddleware<Context> {
  const { guard, observer, timeoutMs = 10_000, waitMs } = options;
  checkTimes('fencing', 1, { timeoutMs, waitMs });
  // A property costs the request less than an entry in a weak map does.
  const property = Symbol('fencing');
  type Marked = IncomingMessage & { [property]?: FencedRequest<Context> };

  const middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void => {
    let admitted: Admitted | Problem;
    try {
      admitted = admit(request, options);
    } catch (error) {
      // express would see to that by itself; a server that calls this by itself would end.
      next(error);
      return;
    }
    if ('status' in admitted) {
      if (admitted.status === 428) tell(() => observer?.check?.(admitted.resource ?? 'other', 'missing'));
      sendProblem(response, admitted);
      return;
    }
    void serve(request, response, next, admitted);
  };

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
    { token, resource, holder }: Admitted,
  ): Promise<void> {
    const term = new PresentedTerm(token, { holder, timeoutMs, waitMs });
    const ending = new KeptEnd(response, term);
    let entered = false;
    try {
      await guard.hold(term, resource, (context) => {
        // A guard that tries again after a conflict calls this again, but a request can be handled only once: its body has been read.
        if (entered) throw new Conflicted('another write came between: nothing was written, send the request again');
        // While the request waited for the fence.
        if (ending.disconnected) throw new Disconnected();
        entered = true;
        (request as Marked)[property] = new Fenced(term, resource, context);
        const asked = ending.asked(timeoutMs);
        next();
        return asked;
      });
      ending.send();
    } catch (error) {
      term.end(error);
      if (error instanceof RolledBack) ending.send();
      else if (error instanceof Disconnected) ending.restore();
      else refuse(response, ending, next, entered, error, resource);
    }
  }

  return Object.assign(middleware, {
    of(request: IncomingMessage): FencedRequest<Context> {
      const found = (request as Marked)[property];
      if (found === undefined) throw new TypeError('this request has not come through the fencing middleware');
      return found;
    },
  });
}

interface Admitted extends Presented {
  readonly token: bigint;
  readonly resource: string;
}

function admit<Context>(request: IncomingMessage, options: FencingOptions<Context>): Admitted | Problem {
  let own: string | undefined;
  try {
    own = options.resource?.(request);
    const { token, resource = own, holder } = readFencing((name) => request.headersDistinct[name]);
    if (own !== undefined && resource !== own) {
      return {
        status: 400,
        kind: 'malformed',
        detail: `this request writes to ${JSON.stringify(own)}, not to ${JSON.stringify(resource)}`,
        resource: own,
      };
    }
    if (token === undefined || resource === undefined) {
      const header = token === undefined ? TOKEN_HEADER : RESOURCE_HEADER;
      return { status: 428, kind: 'missing', detail: `the header ${header} is needed`, resource };
    }
    return { token, resource, holder };
  } catch (error) {
    if (error instanceof InvalidTokenError || error instanceof InvalidResourceError) {
      return { status: 400, kind: 'malformed', detail: error.message, resource: own };
    }
    // Of `decodeURIComponent` in the route's own function, most likely, on a path like `/%E0%A4%A`.
    if (error instanceof URIError) return { status: 400, kind: 'malformed', detail: error.message };
    throw error;
  }
}

function refuse(
  response: ServerResponse,
  ending: KeptEnd,
  next: (error?: unknown) => void,
  entered: boolean,
  error: unknown,
  resource: string,
): void {
  ending.restore();
  const problem: Problem | undefined =
    error instanceof Conflicted
      ? { status: 503, kind: 'conflict', detail: error.message, resource }
      : problemOf(error instanceof HoldTimedOut ? new FenceTimeoutError(resource) : error);
  if (problem === undefined && !entered) {
    next(error);
    return;
  }
  // The handler has run: to the application's error handlers this would be a second answer to one request.
  sendProblem(response, problem ?? { status: 500, kind: 'failed', detail: 'what was written could not be committed' });
  if (entered) mute(response);
}

/** The guard wanted to run the handler a second time. */
class Conflicted extends Error {}

class Fenced<Context> implements FencedRequest<Context> {
  readonly term: PresentedTerm;
  readonly resource: string;
  readonly context: Context;

  constructor(term: PresentedTerm, resource: string, context: Context) {
    this.term = term;
    this.resource = resource;
    this.context = context;
  }

  get signal(): AbortSignal {
    return this.term.signal;
  }
}
