import { describe, expect, it } from 'vitest';
import { waitFor } from '../../deploy/local/index.js';
import { Candidacy, type Outcome } from '../../src/election/candidacy.js';
import type { Contest } from '../../src/election/contest.js';
import type { EventName } from '../../src/election/events.js';
import { type Host, silentLogger } from '../../src/election/host.js';
import { Keeper } from '../../src/election/keeper.js';
import { electionPaths } from '../../src/election/names.js';
import type { Attachment, NodeChange, NodeData, NodeListener, Session, Stat } from '../../src/election/port.js';
import { EMPTY_RECORD, encodeRecord } from '../../src/election/record.js';
import { Turns } from '../../src/election/turns.js';
import { CoordinatorError } from '../../src/errors.js';
import { systemClock } from '../../src/lease/clock.js';
import { SessionRenewals } from '../../src/zookeeper/renewals.js';

const SESSION = '00000000000000aa';
const UUID = '6f1c7f0e-6a0b-4c55-9a57-1f1a8a4f3c11';
const paths = electionPaths('/tenure', 'stood', undefined);
const stat = { czxid: 7n, version: 0, owner: SESSION, children: 0 } as Stat;
const BOUNDS = { pauseMs: 10_000, jumpMs: 10_000 };
const RECORD_OF_A_LEADER = encodeRecord({
  ...EMPTY_RECORD,
  latest: {
    term: 1,
    token: 5n,
    node: 'gone-lock-0000000000',
    leaderId: 'other',
    session: 's-other',
    leaseMs: 60_000,
    metadata: {},
    electedAt: '2026-01-01T00:00:00.000Z',
    ended: null,
  },
});

/** One candidate behind others, at an ensemble that answers at once. What it leaves behind can be counted. */
class Scene {
  readonly stop = new AbortController();
  readonly turns = new Turns(1);
  readonly created: string[] = [];
  readonly removed: string[] = [];
  /** What was asked of the server, in order: `create`, `list` the queue, `look` at a node of it. */
  readonly asked: string[] = [];
  /** Called when a node is being made. */
  creating = (): void => {};
  /** Whose all nodes are, as the server says. */
  owner: string | null = SESSION;
  readonly told: EventName[] = [];
  /** Session nodes, by their paths, that somebody has deleted. */
  readonly deleted = new Set<string>();
  timers = 0;
  readonly #ahead: readonly string[];
  readonly #record: NodeData | null;
  #listeners: { readonly path: string; readonly listener: NodeListener }[] = [];
  #uuids = 0;

  constructor(ahead: readonly string[], record: Uint8Array | null = null) {
    this.#ahead = ahead;
    this.#record = record === null ? null : { data: record, stat };
  }

  /** `then` is done by a listener at the event `at`: it gives the candidacy up, unless told otherwise. */
  host(at?: EventName, then = () => this.stop.abort(new Error('given up'))): Host {
    return {
      clock: {
        ...systemClock,
        after: (ms, fn) => {
          this.timers += 1;
          const cancel = systemClock.after(ms, fn);
          let done = false;
          return () => {
            if (!done) this.timers -= 1;
            done = true;
            cancel();
          };
        },
      },
      random: Math.random,
      uuid: () => `${UUID.slice(0, -1)}${this.#uuids++ % 10}`,
      logger: silentLogger,
      emit: (name) => {
        this.told.push(name);
        if (name === at) then();
      },
    };
  }

  /** Takes the next turn. @returns how to give it back */
  occupy(): () => void {
    let done = (): void => {};
    void this.turns.take(
      () =>
        new Promise<void>((resolve) => {
          done = resolve;
        }),
    );
    return () => done();
  }

  get subscriptions(): string[] {
    return this.#listeners.map(({ path }) => path);
  }

  change(path: string, change: NodeChange): void {
    for (const each of [...this.#listeners]) if (each.path === path) each.listener.changed(path, change);
  }

  readonly session = {
    id: SESSION,
    timeoutMs: 10_000,
    state: 'connected',
    onState: () => () => {},
    onNode: () => () => {},
    listen: (path: string, listener: NodeListener) => void this.#listeners.push({ path, listener }),
    unlisten: (path: string, listener: NodeListener) => {
      this.#listeners = this.#listeners.filter((each) => each.path !== path || each.listener !== listener);
    },
    create: async (path: string, _data: Uint8Array, mode: string) => {
      const made = mode === 'ephemeral_sequential' ? `${path}0000000009` : path;
      this.created.push(made);
      this.asked.push('create');
      this.creating();
      return made;
    },
    remove: async (path: string) => void this.removed.push(path),
    write: async (path: string) => {
      if (this.deleted.has(path)) throw new CoordinatorError('no_node', 'write', path);
      return stat;
    },
    transaction: async () => {},
    children: async (path: string) => {
      this.asked.push(path === paths.queue ? 'list' : 'look');
      const names =
        path === paths.queue ? [...this.#ahead, ...this.created.map((each) => each.slice(path.length + 1))] : [];
      return { names, stat: { ...stat, owner: this.owner } };
    },
    read: async (path: string) => (path === paths.term ? this.#record : { data: new Uint8Array(), stat }),
  } as unknown as Session;

  campaign(host: Host, renewals: unknown): { attachment: Attachment; outcome: Promise<Outcome> } {
    const attachment = {
      session: this.session,
      renewals,
      turns: this.turns,
      onlookers: new Set(),
      leaseMs: 6_000,
    } as unknown as Attachment;
    return { attachment, outcome: new Candidacy(host, new Set(), attachment, contest, this.stop.signal).run(true) };
  }
}

const contest = {
  election: 'stood',
  paths,
  sessionsPath: '/tenure/sessions',
  nodePrefix: 'lock-',
  touches: true,
  candidateId: 'me',
  metadata: {},
  takeoverDelayMs: 0,
  data: new Uint8Array(),
} as unknown as Contest;

const IDLE = { prepare: async () => 's-1', node: 's-1', tickMs: 500, hold() {}, release() {}, renewNow() {} };

const settled = () => new Promise(setImmediate);

describe('a candidacy that is given up by who is told of it', () => {
  it('watches nothing afterwards', async () => {
    const scene = new Scene(['a-lock-0000000001', 'b-lock-0000000002']);
    const { outcome } = scene.campaign(scene.host('position'), IDLE);
    await settled();
    expect(scene.subscriptions).toContain(`${paths.queue}/b-lock-0000000002`);
    scene.change(`${paths.queue}/b-lock-0000000002`, 'deleted');
    await expect(outcome).rejects.toThrow('given up');
    expect(scene.subscriptions).toEqual([]);
    expect(scene.told.at(-1)).toBe('left');
  });

  it('waits for nothing afterwards', async () => {
    const scene = new Scene([], RECORD_OF_A_LEADER);
    const { outcome } = scene.campaign(scene.host('patient'), IDLE);
    await expect(outcome).rejects.toThrow('given up');
    expect(scene.timers).toBe(0);
  });

  it('before its turn to join has come: makes no node', async () => {
    const scene = new Scene([]);
    const done = scene.occupy();
    const { outcome } = scene.campaign(scene.host(), IDLE);
    scene.stop.abort(new Error('given up'));
    await expect(outcome).rejects.toThrow('given up');
    done();
    await settled();
    expect(scene.created).toEqual([]);
    expect(scene.told).toEqual([]);
  });
});

describe('candidacies that join at once', () => {
  it('all get their places before the first of them lists the queue, and all list it before one looks around', async () => {
    const scene = new Scene(['a-lock-0000000001']);
    const done = scene.occupy();
    const join = () => void scene.campaign(scene.host(), IDLE).outcome.catch(() => {});
    for (let each = 0; each < 3; each += 1) join();
    // Later than the first, which has its place already and wants another turn.
    scene.creating = () => {
      if (scene.created.length === 3) join();
    };
    done();
    await waitFor(() => scene.told.filter((name) => name === 'predecessor').length === 4, {
      what: 'all to look around',
    });
    const all = (what: string) => Array(4).fill(what);
    expect(scene.asked).toEqual([...all('create'), ...all('list'), ...all('look')]);
  });

  it('learn of what became of their nodes before they looked around', async () => {
    const scene = new Scene(['a-lock-0000000001']);
    let done = (): void => {};
    const host = scene.host('joined', () => {
      done = scene.occupy();
    });
    const { outcome } = scene.campaign(host, IDLE);
    await waitFor(() => scene.told.includes('joined'), { what: 'the place' });
    await settled();
    expect(scene.subscriptions).toEqual([scene.created[0], paths.term]);
    scene.change(scene.created[0] ?? '', 'deleted');
    done();
    await expect(outcome).resolves.toEqual({ kind: 'out', why: 'node_gone' });
    expect(scene.subscriptions).toEqual([]);
  });

  it('leave a node alone that turns out to be not theirs', async () => {
    const scene = new Scene(['a-lock-0000000001']);
    scene.owner = '00000000000000bb';
    await expect(scene.campaign(scene.host(), IDLE).outcome).resolves.toEqual({ kind: 'out', why: 'node_gone' });
    await settled();
    expect(scene.removed).toEqual([]);
    expect(scene.told).toEqual(['joined', 'left']);
  });

  it('take their node away when they are given up', async () => {
    const scene = new Scene(['a-lock-0000000001']);
    const { outcome } = scene.campaign(scene.host('predecessor'), IDLE);
    await expect(outcome).rejects.toThrow('given up');
    await settled();
    expect(scene.removed).toEqual(scene.created);
  });
});

describe('a claim that names a session node', () => {
  it('opens no term that lives on renewals of another one', async () => {
    const scene = new Scene([]);
    const host = scene.host();
    const renewals = new SessionRenewals(host, scene.session, '/tenure/sessions', BOUNDS, null);
    const first = await renewals.prepare();
    const { attachment, outcome } = scene.campaign(host, renewals);
    const won = await outcome;
    if (won.kind !== 'claimed') throw new Error(won.kind);
    expect(won.claimed.latest.session).toBe(first);
    // While the claim was under way somebody deleted the node, which another term of this session found out, and got a new one.
    scene.deleted.add(`/tenure/sessions/${first}`);
    renewals.renewNow();
    await settled();
    await settled();
    expect(await renewals.prepare()).not.toBe(first);
    const keeper = new Keeper(host, attachment, contest, won, 1_000, () => {});
    expect(keeper.holding).toEqual({ name: 'lost', reason: 'session_node_gone' });
    await keeper.released;
    await settled();
    expect(scene.timers).toBe(0);
  });
});
