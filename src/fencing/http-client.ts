import { StaleTokenError } from '../errors.js';
import { parseToken } from '../token.js';
import { type FencedTerm, type FencingObserver, refusal, tell, whenOver } from './guard.js';
import { fencingHeaders } from './http-headers.js';
import { PROBLEM_TYPES } from './http-problem.js';

export interface FencedFetchOptions {
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Told of each answer: `accepted` for one that isn't a refusal. Only the client knows its lease, so only here can it be `regressed`. */
  observer?: FencingObserver;
}

/**
 * A `fetch` that presents the term at each call: asserts it, adds the headers, and gives up on the answer when `term.assert()` no longer passes.
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
        signal: given ? AbortSignal.any([over.signal, given]) : over.signal,
      });
    } finally {
      stop();
    }
    const stale = response.status === 409 ? await staleFrom(response, term, resource) : undefined;
    if (stale !== undefined) {
      tell(() => observer?.check?.(resource, refusal(term)));
      throw stale;
    }
    if (response.status !== 428) tell(() => observer?.check?.(resource, 'accepted'));
    return response;
  };
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
