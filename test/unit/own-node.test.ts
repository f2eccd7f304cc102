import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Host, silentLogger } from '../../src/election/host.js';
import { OwnNodeWatch } from '../../src/election/own-node.js';
import type { NodeListener, Session } from '../../src/election/port.js';
import { systemClock } from '../../src/lease/clock.js';

const host: Host = {
  clock: systemClock,
  random: Math.random,
  uuid: () => 'uuid',
  logger: silentLogger,
  emit: () => {},
};

/** A session of which only what is asked here is there: the children of our node, as the server has them. */
function sessionThatSees(owner: string | null): Session {
  const stat = { czxid: 7n, owner, children: 0 };
  return {
    id: '00000000000000aa',
    state: 'connected',
    listen: () => {},
    unlisten: () => {},
    onState: () => () => {},
    children: async () => ({ names: [], stat }),
  } as unknown as Session;
}

describe('our own node', () => {
  it('is ours, with its czxid, while its owner is our session', async () => {
    await expect(new OwnNodeWatch(host, sessionThatSees('00000000000000aa'), '/q/n').arm()).resolves.toBe(7n);
  });

  it.each([
    ['another session, made by hand under our name', '00000000000000bb'],
    ['nobody: it was made again, to stay', null],
  ])('is not ours when its owner is %s', async (_whose, owner) => {
    await expect(new OwnNodeWatch(host, sessionThatSees(owner), '/q/n').arm()).resolves.toBeNull();
  });

  it('is sure again with the answer to the newest question alone, when its watch was lost twice', async () => {
    const answers: (() => void)[] = [];
    let lose = () => {};
    const session = {
      ...sessionThatSees(null),
      listen: (path: string, listener: NodeListener) => {
        lose = () => listener.changed(path, 'children');
      },
      children: () =>
        new Promise((resolve) => {
          answers.push(() => resolve({ names: [], stat: { czxid: 7n, owner: '00000000000000aa', children: 0 } }));
        }),
    } as unknown as Session;
    const watch = new OwnNodeWatch(host, session, '/q/n');
    const told: string[] = [];
    watch.listen({ gone: () => told.push('gone'), unsure: () => told.push('unsure'), sure: () => told.push('sure') });
    expect(watch.unsure).toBe(false);
    lose();
    lose();
    answers[0]?.();
    await turn();
    expect(watch.unsure).toBe(true);
    answers[1]?.();
    await turn();
    expect(watch.unsure).toBe(false);
    expect(told).toEqual(['unsure', 'unsure', 'sure']);
  });
});
