import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { identify, parentIsDead } from '../../../src/lifeline/parent.js';
import { isDead, parseStat, processStat } from '../../../src/lifeline/processes.js';

const ELSEWHERE = 1;

describe('whether a parent is dead', () => {
  it('not while the kernel says that it is our parent', () => {
    expect(parentIsDead({ pid: process.pid, startTime: 'any' }, process.pid)).toBe(false);
  });

  it('not while a process runs by its pid and start time, whoever our parent is now', () => {
    expect(parentIsDead(identify(process.pid), ELSEWHERE)).toBe(false);
  });

  it('when its pid is used by another process', () => {
    const { pid, startTime } = identify(process.pid);
    expect(parentIsDead({ pid, startTime: `${startTime}0` }, ELSEWHERE)).toBe(true);
  });

  it('not while it is frozen; when it is gone', async () => {
    const child = spawn('sleep', ['60']);
    const parent = identify(child.pid ?? 0);
    process.kill(parent.pid, 'SIGSTOP');
    await expect.poll(() => processStat(parent.pid)?.state).toBe('T');
    expect(parentIsDead(parent, ELSEWHERE)).toBe(false);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    process.kill(parent.pid, 'SIGKILL');
    await gone;
    expect(parentIsDead(parent, ELSEWHERE)).toBe(true);
  });
});

describe('what /proc says', () => {
  const line = (name: string, state: string, threads: number) =>
    `4711 (${name}) ${state} 1 4700 4700 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 ${threads} 0 98765 1 2 3`;

  it.each(['node', 'a) Z 9 (b', ') R 1 1', ''])('is read behind the name %j, whatever that is', (name) => {
    expect(parseStat(4711, line(name, 'S', 7))).toEqual({
      pid: 4711,
      state: 'S',
      group: 4700,
      threads: 7,
      startTime: '98765',
    });
  });

  it('a first thread that has ended while others run is no death', () => {
    expect(isDead(parseStat(4711, line('node', 'Z', 3)))).toBe(false);
    expect(isDead(parseStat(4711, line('node', 'Z', 1)))).toBe(true);
    expect(isDead(parseStat(4711, line('node', 'T', 1)))).toBe(false);
    expect(isDead(null)).toBe(true);
  });

  it('half a line is none', () => {
    expect(parseStat(4711, '4711 (node) S 1 47')).toBeNull();
  });
});
