import { describe, expect, it } from 'vitest';
import type { Stat } from '../../src/election/port.js';
import { CoordinatorError, type CoordinatorErrorKind } from '../../src/errors.js';
import { type Closable, closeNode } from '../../src/zookeeper/native/closing.js';

type Fate = CoordinatorErrorKind | 'ok';

/** A session whose attempts end as they are told to, the last one's fate for ever; it notes what is asked of it. */
function scripted(setAcl: readonly Fate[], version: number | null, remove: readonly Fate[] = ['ok']) {
  const asked: string[] = [];
  const play = (what: string, script: readonly Fate[]) => {
    let turn = 0;
    return async (path: string): Promise<void> => {
      asked.push(what);
      const fate = script[Math.min(turn++, script.length - 1)] ?? 'ok';
      if (fate !== 'ok') throw new CoordinatorError(fate, what, path);
    };
  };
  const session: Closable = {
    setAcl: play('setAcl', setAcl),
    stat: async () => (version === null ? null : ({ version } as Stat)),
    remove: play('remove', remove),
  };
  return { session, asked };
}

const close = (session: Closable, mode: 'ephemeral_sequential' | 'persistent') =>
  closeNode(session, '/queue/n-1', mode, []).catch((error: CoordinatorError) => error.kind);

describe('an ephemeral znode', () => {
  it.each<[string, readonly Fate[], number | null, readonly Fate[], string, string]>([
    ['is closed', ['ok'], 0, [], '/queue/n-1', 'setAcl'],
    ['has gone meanwhile', ['no_node'], null, [], '/queue/n-1', 'setAcl'],
    ['has gone since', ['ok'], null, [], '/queue/n-1', 'setAcl'],
    ['was overwritten', ['ok'], 1, ['ok'], 'no_auth', 'setAcl remove'],
    ['was taken', ['no_auth'], 0, ['ok'], 'no_auth', 'setAcl remove'],
    [
      'was taken, and the connection breaks',
      ['no_auth'],
      0,
      ['connection_lost', 'no_node'],
      'no_auth',
      'setAcl remove remove',
    ],
    ['is perhaps not closed', ['connection_lost'], 0, ['ok'], 'connection_lost', 'setAcl remove'],
    ['dies with its session', ['session_expired'], 0, ['session_expired'], 'session_expired', 'setAcl remove'],
    ['can’t be closed, as the ACL means nobody', ['invalid_argument'], 0, ['ok'], 'invalid_argument', 'setAcl remove'],
  ])('%s', async (_what, setAcl, version, remove, outcome, steps) => {
    const { session, asked } = scripted(setAcl, version, remove);
    expect(await close(session, 'ephemeral_sequential')).toBe(outcome);
    expect(asked.join(' ')).toBe(steps);
  });
});

describe('a persistent znode, which others may hold already, is never deleted and', () => {
  it.each<[string, readonly Fate[], string, number]>([
    ['is closed', ['ok'], '/queue/n-1', 1],
    ['is closed after a lost connection', ['connection_lost', 'ok'], '/queue/n-1', 2],
    ['was closed by the attempt whose reply was lost', ['operation_timeout', 'no_auth'], '/queue/n-1', 2],
    ['was taken', ['no_auth'], 'no_auth', 1],
    ['outlives its session', ['connection_lost', 'session_closed'], 'session_closed', 2],
  ])('%s', async (_what, setAcl, outcome, attempts) => {
    const { session, asked } = scripted(setAcl, 5);
    expect(await close(session, 'persistent')).toBe(outcome);
    expect(asked).toEqual(Array.from({ length: attempts }, () => 'setAcl'));
  });
});
