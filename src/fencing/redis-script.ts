import { createHash } from 'node:crypto';

/** A script, and the hash by which the server knows it. */
export interface Script {
  readonly sha: string;
  readonly text: string;
}

/**
 * The check, before every guarded script.
 *
 * KEYS[1] is the fence: a hash with `token` and `holder` (accepted), and `pending` and `next` while a newer token waits for
 * older holds to end. KEYS[2] is a sorted set of the holds by the server's time at which they end.
 * ARGV[1] is the token, [2] its holder, [3] the id of a hold or ''.
 *
 * Tokens are text of up to 19 digits. A Lua number would round them, so they are compared in two halves; nearly
 * always they are equal, which is one comparison of strings and no write.
 */
const CHECK = `
local function above(a, b)
  a, b = string.rep('0', 20 - #a) .. a, string.rep('0', 20 - #b) .. b
  local high_a, high_b = tonumber(string.sub(a, 1, 10)), tonumber(string.sub(b, 1, 10))
  if high_a ~= high_b then return high_a > high_b end
  return tonumber(string.sub(a, 11)) > tonumber(string.sub(b, 11))
end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function check(fence, holds, token, holder, hold)
  local state = redis.call('HMGET', fence, 'token', 'holder', 'pending', 'next')
  local accepted, pending = state[1], state[3]
  if accepted == token and not pending then return nil end
  local highest = pending or accepted
  if highest and highest ~= token and above(highest, token) then
    if hold ~= '' and accepted == token and tonumber(redis.call('ZSCORE', holds, hold) or '0') > now() then return nil end
    local who
    if pending then who = state[4] else who = state[2] end
    return {0, highest, who or ''}
  end
  redis.call('ZREMRANGEBYSCORE', holds, '-inf', now())
  if redis.call('ZCARD', holds) > 0 then
    redis.call('HSET', fence, 'pending', token, 'next', holder)
    return {2}
  end
  redis.call('HSET', fence, 'token', token, 'holder', holder)
  redis.call('HDEL', fence, 'pending', 'next')
  return nil
end
local refused = check(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
if refused then return refused end
`;

/**
 * Puts the check before a caller's script. In the caller's text, KEYS and ARGV are the caller's own. Replies: `{1, …}` done,
 * `{0, highest, holder}` stale, `{2}` busy.
 */
export function guarded(lua: string): Script {
  return script(`${CHECK}
local function work(KEYS, ARGV)
${lua}
end
local keys, args = {}, {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
for i = 4, #ARGV do args[i - 3] = ARGV[i] end
return {1, work(keys, args)}
`);
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Runs commands that come as: how many, then for each how many words, how many of them are keys, at which places, and the words. Keys are taken
 * from KEYS and not from the words: a client may have put a prefix before them. Returns the replies.
 */
export const COMMANDS = guarded(`
local replies, at, next_key = {}, 2, 1
for i = 1, tonumber(ARGV[1]) do
  local count, keys = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local words = {unpack(ARGV, at + 2 + keys, at + 1 + keys + count)}
  for k = 1, keys do
    words[tonumber(ARGV[at + 1 + k])] = KEYS[next_key]
    next_key = next_key + 1
  end
  replies[i] = redis.call(unpack(words))
  at = at + 2 + keys + count
end
return replies
`);

/** Accepts the token, and no more. */
export const ACCEPT = guarded('return nil');

/** Takes a hold. Its own arguments: the id, its milliseconds; its own key: the holds. */
export const TAKE = guarded(`
redis.call('ZADD', KEYS[1], now() + tonumber(ARGV[2]), ARGV[1])
return nil
`);

export const RELEASE = script(`return redis.call('ZREM', KEYS[1], ARGV[1])`);
