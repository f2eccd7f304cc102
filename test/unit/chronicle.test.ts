import { expect, it } from 'vitest';
import { Chronicle } from '../../src/election/chronicle.js';
import { type ControlChange, decodeHistory } from '../../src/election/history.js';
import { type Host, silentLogger } from '../../src/election/host.js';
import { electionPaths } from '../../src/election/names.js';
import type { Attachment, Membership, Session } from '../../src/election/port.js';
import { CoordinatorError } from '../../src/errors.js';
import type { Clock } from '../../src/lease/clock.js';

const PATHS = electionPaths('/tenure', 'e');
const ENTRY: ControlChange = {
  kind: 'control',
  change: 'pause',
  at: '2026-11-30T00:00:00.000Z',
  by: 'ada',
  reason: 'why',
};

/** A clock that is moved by hand. */
class Hand implements Clock {
  #now = 0;
  readonly timers = new Map<number, { at: number; fn: () => void }>();
  #ids = 0;

  monotonic = () => this.#now;
  boot = () => this.#now;
  wall = () => this.#now;

  after(ms: number, fn: () => void) {
    const id = ++this.#ids;
    this.timers.set(id, { at: this.#now + ms, fn });
    return () => void this.timers.delete(id);
  }

  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settled();
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (due === undefined) break;
      this.timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].fn();
    }
    this.#now = end;
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function scene() {
  const clock = new Hand();
  const host: Host = { clock, random: () => 0.5, uuid: () => '', logger: silentLogger, emit() {} };
  const state = { connected: true, data: null as Uint8Array | null, losing: 0 };
  const session = {
    get state() {
      return state.connected ? 'connected' : 'disconnected';
    },
    read: async () => (state.data === null ? null : { data: state.data, stat: { version: 0 } }),
    create: async (path: string, data: Uint8Array) => {
      if (state.losing > 0) {
        state.losing -= 1;
        state.connected = false;
        throw new CoordinatorError('connection_lost', 'create', path);
      }
      state.data = data;
      return path;
    },
  } as unknown as Session;
  const membership = { current: { session } as Attachment } as Membership;
  const written = () => (state.data === null ? [] : decodeHistory(state.data));
  return { clock, state, written, chronicle: new Chronicle(host, membership) };
}

it('writes what it has noted, once the hand-over is over and the connection is there', async () => {
  const { clock, state, written, chronicle } = scene();
  state.connected = false;
  chronicle.note(PATHS, [ENTRY]);
  await clock.pass(5_000);
  expect(written()).toEqual([]);
  state.connected = true;
  await clock.pass(1_000);
  expect(written()).toEqual([ENTRY]);
  expect(clock.timers.size).toBe(0);
});

it('keeps what it has noted when the connection is lost in the middle', async () => {
  const { clock, state, written, chronicle } = scene();
  state.losing = 1;
  chronicle.note(PATHS, [ENTRY]);
  await clock.pass(3_000);
  expect([state.losing, written()]).toEqual([0, []]);
  state.connected = true;
  await clock.pass(1_000);
  expect(written()).toEqual([ENTRY]);
  expect(clock.timers.size).toBe(0);
});

it('leaves nothing running once it is closed: no timer, nobody who waits, no later note', async () => {
  const { clock, state, written, chronicle } = scene();
  state.connected = false;
  const waiting = chronicle.write(PATHS, [ENTRY], 5_000);
  await settled();
  const closing = chronicle.close(500);
  chronicle.note(PATHS, [ENTRY]);
  await clock.pass(500);
  await closing;
  expect(await waiting).toBe(false);
  chronicle.note(PATHS, [ENTRY]);
  await clock.pass(10_000);
  expect(clock.timers.size).toBe(0);
  expect(written()).toEqual([]);
});
