import { describe, expect, it } from 'vitest';
import { Estate } from '../../../src/lifeline/estate.js';
import { encodeMessage, type Message, MessageReader, type SessionCredentials } from '../../../src/lifeline/messages.js';

const session = (id: string): SessionCredentials => ({
  id,
  password: '00'.repeat(16),
  timeoutMs: 4_000,
  servers: [{ host: 'zk1', port: 2181 }],
  auth: [],
  tls: null,
});

function estateOf(...messages: Message[]): Estate {
  const estate = new Estate();
  for (const message of messages) estate.told(message);
  return estate;
}

const STORY: readonly Message[] = [
  { tell: 'session', session: session('a') },
  { tell: 'node', id: 'a', path: '/s/1' },
  { tell: 'leads', id: 'a', path: '/x/queue/1' },
  { tell: 'leads', id: 'a', path: '/y/queue/1' },
  { tell: 'left', id: 'a', path: '/x/queue/1' },
  { tell: 'session', session: session('b') },
  { tell: 'node', id: 'b', path: null },
  { tell: 'lease', end: { monotonic: 1, boot: 2 } },
  { tell: 'starting', mark: 'A=1' },
  { tell: 'running', group: 7, startTime: '8' },
];

describe('what is left behind', () => {
  it('is what was told last', () => {
    const estate = estateOf(...STORY);
    expect(estate.sessions).toMatchObject([
      { node: '/s/1', leading: new Set(['/y/queue/1']) },
      { node: null, leading: new Set() },
    ]);
    expect(estate.child).toEqual({ state: 'running', group: 7, startTime: '8' });
    expect(estate.leaseEnd).toEqual({ monotonic: 1, boot: 2 });
  });

  it('is nothing once all sessions are over and the child has ended', () => {
    const over: Message[] = [{ tell: 'over', id: 'a' }, { tell: 'over', id: 'b' }, { tell: 'ended' }];
    const estate = estateOf(...STORY);
    for (const message of over) {
      expect(estate.empty).toBe(false);
      estate.told(message);
    }
    expect(estate.empty).toBe(true);
  });

  it('takes no heed of what is said of a session that is over', () => {
    const estate = estateOf(
      { tell: 'session', session: session('a') },
      { tell: 'over', id: 'a' },
      { tell: 'leads', id: 'a', path: '/x/queue/1' },
      { tell: 'node', id: 'a', path: '/s/1' },
    );
    expect(estate.sessions).toEqual([]);
  });

  it.each(STORY.map((_, index) => index + 1))('can be told again to another helper, after %d messages', (length) => {
    const estate = estateOf(...STORY.slice(0, length));
    const again = estateOf(...estate.retold());
    expect(again.sessions).toEqual(estate.sessions);
    expect(again.child).toEqual(estate.child);
    expect(again.leaseEnd).toEqual(estate.leaseEnd);
  });
});

describe('messages', () => {
  it('arrive whole, however they are cut', () => {
    const text = STORY.map(encodeMessage).join('');
    for (const size of [1, 7, 100, text.length]) {
      const reader = new MessageReader();
      const read: Message[] = [];
      for (let at = 0; at < text.length; at += size) read.push(...reader.push(text.slice(at, at + size)));
      expect(read).toEqual(STORY);
    }
  });

  it('half of one, by a parent that was killed, counts for nothing', () => {
    const reader = new MessageReader();
    const [first, second] = STORY.map(encodeMessage);
    expect(reader.push(`${first}${second?.slice(0, -1)}`)).toEqual(STORY.slice(0, 1));
  });
});
