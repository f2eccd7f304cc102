import { describe, expect, it } from 'vitest';
import { Candidacy } from '../../src/election/candidacy.js';
import type { Contest } from '../../src/election/contest.js';
import { type Host, silentLogger } from '../../src/election/host.js';
import { Keeper } from '../../src/election/keeper.js';
import { electionPaths } from '../../src/election/names.js';
import type { Attachment, NodeData, Session, Stat } from '../../src/election/port.js';
import { decodeRecord, encodeRecord } from '../../src/election/record.js';
import { Turns } from '../../src/election/turns.js';
import { systemClock } from '../../src/lease/clock.js';

const host: Host = { clock: systemClock, random: Math.random, uuid: () => UUID, logger: silentLogger, emit: () => {} };
const UUID = '6f1c7f0e-6a0b-4c55-9a57-1f1a8a4f3c11';
const OWN = '00000000000000aa';
const paths = electionPaths('/tenure', 'claimed', undefined);
const stat = { czxid: 7n, version: 0, owner: OWN, children: 0 } as Stat;

/** An ensemble of which one candidate asks what it asks on the way to its claim; `log` has that, in the order of sending. */
class Scene {
  readonly log: string[] = [];
  /** Deletes our node right behind the next write of the record. */
  deleteBehindClaim = false;
  /** Has an operator pause the election right behind the claim, before anything reads the record again. */
  pauseBehindClaim = false;
  #standing: string | null = null;
  #record: NodeData | null = null;

  session(transactions: boolean): Session {
    const session = {
      id: OWN,
      state: 'connected',
      onNode: () => () => {},
      listen: () => {},
      unlisten: () => {},
      onState: () => () => {},
      create: async (path: string, data: Uint8Array, mode: string) => {
        this.log.push(`create ${path === paths.term ? 'record' : 'candidate'}`);
        if (mode !== 'ephemeral_sequential') return this.#write(data);
        this.#standing = `${path}0000000000`;
        return this.#standing;
      },
      write: async (path: string, data: Uint8Array) => {
        this.log.push(path === paths.term ? 'write record' : 'write');
        if (path === paths.term) this.#write(data);
        return stat;
      },
      remove: async () => {
        this.log.push('remove candidate');
      },
      children: async (path: string) => {
        const own = path !== paths.queue;
        this.log.push(own ? 'look at our node' : 'list');
        if (own) return this.#standing === null ? null : { names: [], stat };
        return { names: [(this.#standing ?? '').slice(paths.queue.length + 1)], stat };
      },
      read: async () => {
        this.log.push('read record');
        return this.#record;
      },
      ...(transactions && {
        transaction: async ([check, claim]: { do: string; data: Uint8Array }[]) => {
          this.log.push(`transaction: ${check?.do}, ${claim?.do}`);
          this.#write(claim?.data ?? new Uint8Array());
        },
      }),
    };
    return session as unknown as Session;
  }

  #write(data: Uint8Array): string {
    const record = decodeRecord(data, paths.term);
    const pause = this.pauseBehindClaim ? { by: 'ada', at: '', reason: 'a drill' } : null;
    this.#record = { data: encodeRecord({ ...record, pause }), stat };
    if (this.deleteBehindClaim) this.#standing = null;
    return paths.term;
  }
}

const contest = {
  election: 'claimed',
  paths,
  nodePrefix: 'lock-',
  touches: true,
  candidateId: 'me',
  metadata: {},
  data: new Uint8Array(),
  rules: { takeoverDelayMs: 0 },
} as unknown as Contest;

function attached(scene: Scene, transactions: boolean): Attachment {
  const renewals = { prepare: async () => 's-1', node: 's-1', hold() {}, release() {}, renewNow() {} };
  const session = scene.session(transactions);
  return {
    session,
    renewals,
    turns: new Turns(8),
    onlookers: new Set(),
    leaseMs: 1_000,
  } as unknown as Attachment;
}

function candidacy(scene: Scene, transactions: boolean): Candidacy {
  return new Candidacy(host, new Set(), attached(scene, transactions), contest, new AbortController().signal);
}

describe('a claim', () => {
  it('as a plain write has a look at our own node behind it, and opens no term where that has gone', async () => {
    const scene = new Scene();
    await expect(candidacy(scene, false).run(true)).resolves.toMatchObject({ kind: 'claimed' });
    expect(scene.log.slice(-3)).toEqual(['create record', 'look at our node', 'read record']);
    const late = new Scene();
    late.deleteBehindClaim = true;
    await expect(candidacy(late, false).run(true)).resolves.toEqual({ kind: 'out', why: 'node_gone' });
    // Nobody acts under it: that is said, so that nobody waits for it.
    await new Promise(setImmediate);
    expect(late.log).toContain('write record');
  });

  it('as a transaction asks for our own node within, by its touch', async () => {
    const scene = new Scene();
    const won = await candidacy(scene, true).run(true);
    expect(scene.log.slice(-2)).toEqual(['transaction: write, create', 'read record']);
    expect(won).toMatchObject({ kind: 'claimed', claimed: { view: { version: 0 }, latest: { token: 7n, term: 1 } } });
  });

  it('is judged by its term for what has come in behind it', async () => {
    const scene = new Scene();
    scene.pauseBehindClaim = true;
    const attachment = attached(scene, true);
    const won = await new Candidacy(host, new Set(), attachment, contest, new AbortController().signal).run(true);
    if (won.kind !== 'claimed') throw new Error(won.kind);
    const keeper = new Keeper(host, attachment, contest, won, 1_000, () => {});
    expect(keeper.holding.name).toBe('recovering');
    expect(keeper.view.record.pause).toBeNull();
    await new Promise(setImmediate);
    expect(keeper.holding).toMatchObject({ name: 'draining', why: 'paused' });
    expect(keeper.view).toMatchObject({ current: true, record: { pause: { by: 'ada' } } });
    keeper.dispatch({ type: 'release', settled: true });
    await keeper.released;
    // Announced and left in one transaction, and no timer of the drain is left behind.
    expect(scene.log.at(-1)).toBe('transaction: write, remove');
  });

  it('is not judged, nor told, by a term that is over before that is read', async () => {
    const scene = new Scene();
    scene.pauseBehindClaim = true;
    const attachment = attached(scene, true);
    const won = await new Candidacy(host, new Set(), attachment, contest, new AbortController().signal).run(true);
    if (won.kind !== 'claimed') throw new Error(won.kind);
    const told: string[] = [];
    const keeper = new Keeper({ ...host, emit: (name) => told.push(name) }, attachment, contest, won, 1_000, () => {});
    keeper.resign();
    await keeper.released;
    await new Promise(setImmediate);
    expect(told).toEqual(['elected', 'draining', 'lost', 'released']);
  });
});
