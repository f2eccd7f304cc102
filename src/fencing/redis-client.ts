import { InvalidOptionError } from '../errors.js';
import type { Script } from './redis-script.js';

/** An argument of a Redis command. */
export type RedisArgument = string | number | bigint | Uint8Array;

/** The part of an ioredis client or Cluster that the guard needs. */
export interface IoRedisClient {
  /** `EVALSHA`: a script by its hash, the names of its keys, then its arguments. */
  // biome-ignore lint/suspicious/noExplicitAny: the replies of a script are as the script says
  evalsha(sha: string, numberOfKeys: number, ...args: any[]): Promise<any>;
  /** `EVAL`: the same by its text. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  eval(script: string, numberOfKeys: number, ...args: any[]): Promise<any>;
}

/** The part of a node-redis client or cluster that the guard needs. */
export interface NodeRedisClient {
  /** `EVALSHA`: a script by its hash. */
  // biome-ignore lint/suspicious/noExplicitAny: the replies of a script are as the script says
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<any>;
  /** `EVAL`: the same by its text. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<any>;
}

/** A client that the guard can use. */
export type RedisClient = IoRedisClient | NodeRedisClient;

/** Runs one script by its hash; sends the text only where the server doesn't have it (first use, restart, another node). */
export type Run = (script: Script, keys: string[], args: RedisArgument[]) => Promise<unknown>;

export function runner(client: RedisClient): Run {
  if ('evalSha' in client) return (script, keys, args) => runOnNodeRedis(client, script, keys, args);
  if ('evalsha' in client) return (script, keys, args) => runOnIoRedis(client, script, keys, args);
  throw new InvalidOptionError('client', 'an ioredis or a node-redis client is needed');
}

async function runOnNodeRedis(
  client: NodeRedisClient,
  script: Script,
  keys: string[],
  args: RedisArgument[],
): Promise<unknown> {
  const options = { keys, arguments: args.map(textOrBytes) as string[] };
  try {
    return await client.evalSha(script.sha, options);
  } catch (error) {
    if (!isNoScript(error)) throw error;
    return await client.eval(script.text, options);
  }
}

async function runOnIoRedis(
  client: IoRedisClient,
  script: Script,
  keys: string[],
  args: RedisArgument[],
): Promise<unknown> {
  const words = [...keys, ...args.map(textOrBytes)];
  try {
    return await client.evalsha(script.sha, keys.length, ...words);
  } catch (error) {
    if (!isNoScript(error)) throw error;
    return await client.eval(script.text, keys.length, ...words);
  }
}

function textOrBytes(value: RedisArgument): string | Uint8Array {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.isBuffer(value) ? value : Buffer.from(value);
  return String(value);
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
