import { StaleTokenError } from '../errors.js';
import { anyOf } from '../signals.js';
import { parseToken } from '../token.js';
import { type FencedTerm, type FencingObserver, tell, tellRefusal, whenOver } from './guard.js';
import { fencingHeaders } from './http-headers.js';
import { PROBLEM_TYPES } from './http-problem.js';

/** Options of {@link fencedFetch}. */
export interface FencedFetchOptions {
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Told of each answer: `accepted` for one that isn't a refusal. Only the client knows its lease, so only here can it be `regressed`. */
  observer?: FencingObserver;
}

/**
 * A `fetch` that presents the term at each call: asserts it, adds the headers, and gives up on the answer, its body too, when `term.assert()` no
 * longer passes.
 *
 * Redirects aren't followed: `fetch` would take the token along to whoever the answer names. They are returned, or are errors under
 * `redirect: 'error'`.
 *
 * A request whose answer did not arrive may have been served. The resource's token check makes a repeat by an older *term* harmless, not
 * one by the same term: send an idempotency key too.
 *
 * @throws {StaleTokenError} the resource has accepted a higher token (an answer 409 of that problem type). Other answers are returned.
 */
export function fencedFetch(
  term: FencedTerm,
  resource: string,
  options: FencedFetchOptions = {},
): typeof globalThis.fetch {
  const { fetch: send = globalThis.fetch, observer } = options;
  return async (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    for (const [name, value] of Object.entries(fencingHeaders(term, resource))) headers.set(name, value);
    const given = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const over = new AbortController();
    const stop = whenOver(term, (reason) => over.abort(reason));
    let response: Response;
    try {
      response = await send(input, {
        ...init,
        headers,
        redirect:
          (init?.redirect ?? (input instanceof Request ? input.redirect : undefined)) === 'error' ? 'error' : 'manual',
        signal: given ? anyOf([over.signal, given]) : over.signal,
      });
    } finally {
      stop();
    }
    response = whileTermLasts(response, term, over);
    const stale = response.status === 409 ? await staleFrom(response, term, resource) : undefined;
    if (stale !== undefined) {
      tellRefusal(observer, term, stale);
      throw stale;
    }
    // Nor is a redirect a word of the resource's.
    const passed = response.status !== 428 && !(response.status >= 300 && response.status < 400);
    if (passed) tell(() => observer?.check?.(resource, 'accepted'));
    return response;
  };
}

/**
 * The answer, with a body that ends in an error when the term is over. It is watched while somebody waits for bytes, and only then: a body that
 * nobody reads must not leave a timer behind.
 */
function whileTermLasts(response: Response, term: FencedTerm, over: AbortController): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const stop = whenOver(term, (reason) => over.abort(reason));
        try {
          term.assert();
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          over.abort(error);
          throw error;
        } finally {
          stop();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const watched = new Response(body, response);
  // Where it came from can't be said to the constructor.
  return Object.defineProperty(watched, 'url', { value: response.url });
}

/** Leaves the answer's body to the caller: not every 409 is about a token. */
async function staleFrom(response: Response, term: FencedTerm, resource: string): Promise<StaleTokenError | undefined> {
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  try {
    const problem = (await response.clone().json()) as { type?: unknown; highest?: unknown; holder?: unknown };
    if (problem.type !== PROBLEM_TYPES.stale) return undefined;
    const holder = typeof problem.holder === 'string' ? problem.holder : undefined;
    return new StaleTokenError(resource, term.token, parseToken(String(problem.highest)), holder);
  } catch {
    return undefined;
  }
}
