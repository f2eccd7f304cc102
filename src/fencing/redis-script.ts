import { createHash } from 'node:crypto';

/** A script, and the hash by which the server knows it. */
export interface Script {
  readonly sha: string;
  readonly text: string;
}

/**
 * The check, before every guarded script.
 *
 * The last key is the fence, a hash: `token` and `holder` (accepted), `open` (the accepted token again, while it is the only one that may write),
 * `pending` and `next` (a newer token, and whose, that waits for older holds to end), and `hold:<id>` for each hold, the server's
 * milliseconds at which it ends. The last three arguments are the token, its holder, and the id of a hold or ''.
 *
 * Nearly always the token is the open one: then this is one read. Tokens are text of up to 19 digits; a Lua number would round them, so
 * they are compared in two halves.
 *
 * A refusal is an error reply: `TNSTALE <highest> <holder>` or `TNBUSY`. What comes after the check finds its own KEYS and ARGV.
 */
const CHECK = `
do
  local n, m = #KEYS, #ARGV
  local fence, token, holder, hold = KEYS[n], ARGV[m - 2], ARGV[m - 1], ARGV[m]
  KEYS[n], ARGV[m], ARGV[m - 1], ARGV[m - 2] = nil, nil, nil, nil
  if redis.call('HGET', fence, 'open') ~= token then
    local function above(a, b)
      a, b = string.rep('0', 20 - #a) .. a, string.rep('0', 20 - #b) .. b
      local high_a, high_b = tonumber(string.sub(a, 1, 10)), tonumber(string.sub(b, 1, 10))
      if high_a ~= high_b then return high_a > high_b end
      return tonumber(string.sub(a, 11)) > tonumber(string.sub(b, 11))
    end
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local state = redis.call('HMGET', fence, 'token', 'holder', 'pending', 'next')
    local accepted, pending = state[1], state[3]
    local highest = pending or accepted
    if highest and highest ~= token and above(highest, token) then
      local ends = hold ~= '' and accepted == token and redis.call('HGET', fence, 'hold:' .. hold)
      if not ends or tonumber(ends) <= now then
        local who = state[2]
        if pending then who = state[4] end
        return redis.error_reply('TNSTALE ' .. highest .. ' ' .. string.gsub(who or '', '%c', ' '))
      end
    else
      local held = false
      local fields = redis.call('HGETALL', fence)
      for i = 1, #fields, 2 do
        if string.sub(fields[i], 1, 5) == 'hold:' then
          if tonumber(fields[i + 1]) > now then held = true else redis.call('HDEL', fence, fields[i]) end
        end
      end
      if held then
        redis.call('HSET', fence, 'pending', token, 'next', holder)
        redis.call('HDEL', fence, 'open')
        return redis.error_reply('TNBUSY an older term holds it')
      end
      redis.call('HSET', fence, 'token', token, 'holder', holder, 'open', token)
      redis.call('HDEL', fence, 'pending', 'next')
    end
  end
end
`;

/** Puts the check before a caller's script, which must come after it in the same chunk so that its `return` is the reply. */
export function guarded(lua: string): Script {
  return script(`${CHECK}${lua}\n`);
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
export const ACCEPT = guarded('return 1');

/** Takes a hold. Its own key: the fence; its own arguments: the id, and for how many milliseconds. */
export const TAKE = guarded(`
local time = redis.call('TIME')
return redis.call('HSET', KEYS[1], 'hold:' .. ARGV[1], string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]))
`);

export const RELEASE = script(`return redis.call('HDEL', KEYS[1], 'hold:' .. ARGV[1])`);

/** A newer token that waits has been accepted as far as older terms can tell: they are refused from then on. */
export const READ = script(`
local state = redis.call('HMGET', KEYS[1], 'token', 'holder', 'pending', 'next')
if state[3] then return {state[3], state[4]} end
return {state[1], state[2]}
`);
