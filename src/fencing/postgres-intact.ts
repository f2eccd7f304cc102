import type { PgClient } from './postgres-connection.js';

/**
 * Tags of statements that end no transaction. Inside of a transaction block nothing but a statement of the client's own can end
 * it, neither a function nor a procedure; and the server completes each with its tag. Those that are left out aren't all
 * harmful (ROLLBACK is that of ROLLBACK TO SAVEPOINT, too): they are looked at closely.
 */
const HARMLESS: ReadonlySet<unknown> = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/**
 * Knows of a transaction block whether it is certainly still the one that it was, from the tags of all that was sent in it. Where that is
 * so, the server needn't be asked before the commit.
 */
export class Intact {
  readonly #client: PgClient;
  /**
   * Statements that aren't known to be over and harmless. What fails, what is still under way, and what we can't see the tag of (a stream, a
   * cursor, a callback) stays counted.
   */
  #doubtful = 0;
  readonly #see: <Result>(result: Result) => Result;

  constructor(client: PgClient) {
    this.#client = client;
    this.#see = (result) => {
      if (isHarmless(result)) this.#doubtful -= 1;
      return result;
    };
  }

  /** As the client's own, watched. */
  query(...args: Parameters<PgClient['query']>): ReturnType<PgClient['query']> {
    this.#doubtful += 1;
    const answer = this.#client.query(...args);
    return isPromise(answer) && !isSubmittable(args[0]) ? answer.then(this.#see) : answer;
  }

  /** By the tags, and by what the server said after the last statement. */
  get certain(): boolean {
    return this.#doubtful === 0 && this.#client.getTransactionStatus?.() === 'T';
  }
}

/** `pg` gives several results for a text of several statements. */
function isHarmless(result: unknown): boolean {
  if (Array.isArray(result)) return result.length > 0 && result.every(isHarmless);
  return HARMLESS.has((result as { command?: unknown } | null | undefined)?.command);
}

/** At run time a client's `query` takes and returns more than its type here says. */
function isPromise(answer: unknown): boolean {
  return typeof (answer as PromiseLike<unknown> | undefined)?.then === 'function';
}

function isSubmittable(statement: unknown): boolean {
  return typeof (statement as { submit?: unknown } | null)?.submit === 'function';
}
