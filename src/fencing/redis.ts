/**
 * Guards what is written to Redis: the check and the commands are one script.
 *
 * @module tenure/fencing/redis
 */
import { randomUUID } from 'node:crypto';
import { StaleTokenError } from '../errors.js';
import { formatToken, parseToken, type Token } from '../token.js';
import { CommitUnknownError, FenceReleasedError } from './errors.js';
import {
  type Accepted,
  checkResource,
  type FencedTerm,
  type FencingObserver,
  type Guard,
  holdMs,
  untilFree,
  Verdict,
  whenOver,
} from './guard.js';
import { type RedisArgument, type RedisClient, type Run, runner } from './redis-client.js';
import { checkArguments, checkKeys, packed, type RedisCommand, RedisKey } from './redis-commands.js';
import { ACCEPT, COMMANDS, guarded, READ, RELEASE, type Script, TAKE } from './redis-script.js';

export type { IoRedisClient, NodeRedisClient, RedisArgument, RedisClient } from './redis-client.js';
export { type RedisCommand, RedisKey } from './redis-commands.js';

/** Options of {@link redisGuard}. */
export interface RedisGuardOptions {
  /** What the names of the guard's own keys begin with. Default `tenure`. */
  prefix?: string;
  /**
   * The hash tag of a resource: what all of its keys carry between braces, so that a cluster keeps them in one slot. Must be
   * different for different resources, and free of braces. Default: the resource's name, with `{`, `}` and `%` percent-encoded.
   */
  tag?: (resource: string) => string;
  /** Told of each check and what came of it. Default: nobody. `fencingMetrics()` of `tenure` counts them. */
  observer?: FencingObserver;
}

/** A caller's own script, guarded. */
export type GuardedScript = (
  term: FencedTerm,
  resource: string,
  keysAndArguments?: { keys?: readonly string[]; args?: readonly RedisArgument[] },
) => Promise<unknown>;

/** What a hold can do while it lasts. */
export interface RedisHold {
  /** As {@link RedisGuard.write}, and allowed while a newer token is waiting for this hold to end. */
  write(commands: readonly RedisCommand[]): Promise<unknown[]>;
}

/**
 * Guards resources in Redis 6 and later: one script checks the token and runs the caller's commands, and Redis runs a script as
 * a whole. Works with ioredis and node-redis, a single server, Sentinel or a cluster.
 *
 * What it can't promise: Redis replicates after it has answered. A failover to a replica that had not yet received the newest token
 * forgets it, and an older leader is accepted again until the newer one writes. The same holds for a restart without
 * `appendonly yes` and `appendfsync always`, and for an eviction under an `allkeys-…` policy.
 */
export class RedisGuard implements Guard<RedisHold> {
  readonly #run: Run;
  readonly #prefix: string;
  readonly #tag: (resource: string) => string;
  readonly #observer: FencingObserver | undefined;
  /** The fences' keys by resource, for speed. */
  readonly #fences = new Map<string, string>();

  constructor(client: RedisClient, options: RedisGuardOptions = {}) {
    this.#run = runner(client);
    this.#prefix = options.prefix ?? 'tenure';
    this.#tag = options.tag ?? defaultTag;
    this.#observer = options.observer;
  }

  /** The name of a key of this resource's data that a cluster keeps beside its fence: `{tag}:name`. */
  key(resource: string, name: string): string {
    return `{${this.#tag(checkResource(resource))}}:${name}`;
  }

  /**
   * Checks the token and runs the commands, in one atomic step. Resolves with their replies.
   *
   * A command that fails ends the script where it is: as with any Redis script, what the commands before it did stays.
   * Integers above 2^53 in replies are rounded by Redis's Lua: read such values as text.
   *
   * @throws {StaleTokenError} a higher token has been accepted. Nothing was written.
   * @throws {FenceBusyError} an older hold did not end in time. Nothing was written.
   * @throws {CommitUnknownError} the term ended before the server answered. What was sent may still take effect, until a newer token comes.
   * @throws {InvalidOptionError} a command can't be one. Nothing was sent.
   */
  write(term: FencedTerm, resource: string, commands: readonly RedisCommand[]): Promise<unknown[]> {
    return this.#write(term, resource, commands, '');
  }

  /**
   * Puts the check before a Lua script; call what it returns for each write. In the script `KEYS` and `ARGV` are the caller's,
   * `return` gives the reply, and an early `return` or an error leaves undone only what comes after it.
   */
  script(lua: string): GuardedScript {
    const prepared = guarded(lua);
    return async (term, resource, { keys = [], args = [] } = {}) => {
      checkKeys(keys);
      checkArguments(args);
      return await this.#guarded(prepared, term, resource, keys, args);
    };
  }

  async check(term: FencedTerm, resource: string): Promise<void> {
    await this.#guarded(ACCEPT, term, resource);
  }

  /**
   * The hold lives at the server, and ends there by itself after what remains of the lease, whatever becomes of this process.
   * Newer tokens wait for it; older ones are refused from the moment a newer one waits.
   */
  async hold<T>(term: FencedTerm, resource: string, work: (hold: RedisHold) => T | Promise<T>): Promise<T> {
    const id = randomUUID();
    const fence = this.#fence(resource);
    await this.#guarded(TAKE, term, resource, [fence], () => [id, holdMs(term)]);
    let open = true;
    try {
      return await work({
        write: async (commands) => {
          if (!open)
            throw new FenceReleasedError(`the hold on ${JSON.stringify(resource)} has ended: is an await missing?`);
          return await this.#write(term, resource, commands, id);
        },
      });
    } finally {
      open = false;
      // Unreleased, the hold ends by itself: not worth an error over what `work` has done.
      await whileTermLasts(term, resource, this.#run(RELEASE, [fence], [id])).catch(() => undefined);
    }
  }

  async highest(resource: string): Promise<Accepted | null> {
    const [token, holder] = (await this.#run(READ, [this.#fence(resource)], [])) as [string | null, string | null];
    return token === null ? null : { token: parseToken(String(token)), holder: String(holder ?? '') || undefined };
  }

  async #write(
    term: FencedTerm,
    resource: string,
    commands: readonly RedisCommand[],
    hold: string,
  ): Promise<unknown[]> {
    const { keys, args } = packed(commands);
    return (await this.#guarded(COMMANDS, term, resource, keys, args, hold)) as unknown[];
  }

  async #guarded(
    prepared: Script,
    term: FencedTerm,
    resource: string,
    keys: readonly string[] = [],
    args: readonly RedisArgument[] | (() => readonly RedisArgument[]) = [],
    hold = '',
  ): Promise<unknown> {
    const all = [...keys, this.#fence(resource)];
    const token = formatToken(term.token);
    const verdict = new Verdict(this.#observer, term, resource);
    try {
      const { reply } = await untilFree(term, resource, async () => {
        const own = typeof args === 'function' ? args() : args;
        try {
          const sent = this.#run(prepared, all, [...own, token, term.leaderId ?? '', hold]);
          return { reply: await whileTermLasts(term, resource, sent) };
        } catch (error) {
          if (isBusy(error)) return 'busy';
          throw staleFrom(error, resource, term.token) ?? error;
        }
      });
      // What is written in a hold was accepted with the hold.
      if (hold === '') verdict.accepted();
      return reply;
    } catch (error) {
      verdict.ended(error);
      throw error;
    }
  }

  #fence(resource: string): string {
    let name = this.#fences.get(resource);
    if (name === undefined) {
      name = `${this.#prefix}:fence:{${this.#tag(checkResource(resource))}}`;
      if (this.#fences.size >= 10_000) this.#fences.clear();
      this.#fences.set(resource, name);
    }
    return name;
  }
}

/**
 * A server or a line that hangs would keep the owner waiting past its lease, as clients wait for ever.
 *
 * @throws {CommitUnknownError} the term is over and no answer has come
 */
function whileTermLasts<T>(term: FencedTerm, resource: string, sent: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = whenOver(term, (cause) => reject(new CommitUnknownError(resource, { cause })));
    sent.then(resolve, reject).finally(stop);
  });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('TNBUSY');
}

function staleFrom(error: unknown, resource: string, token: Token): StaleTokenError | undefined {
  const [, highest, holder] = (error instanceof Error && /^TNSTALE (\d+) (.*)$/s.exec(error.message)) || [];
  return highest === undefined
    ? undefined
    : new StaleTokenError(resource, token, parseToken(highest), holder || undefined);
}

/** A {@link RedisGuard} on an ioredis or node-redis client. */
export function redisGuard(client: RedisClient, options?: RedisGuardOptions): RedisGuard {
  return new RedisGuard(client, options);
}

/** Marks an argument of a {@link RedisCommand} as a key: `['RENAME', 'a', key('b')]`. */
export function key(name: string): RedisKey {
  return new RedisKey(name);
}

/** Braces would end the tag early, and let two resources share a fence. */
function defaultTag(resource: string): string {
  return resource.replace(/[%{}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
