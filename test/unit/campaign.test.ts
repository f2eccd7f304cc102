import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CampaignEffect, CampaignEvent, CampaignState, RecordView } from '../../src/election/campaign.js';
import { campaignStep, enterQueue, predecessorOf } from '../../src/election/campaign-step.js';
import {
  EMPTY_RECORD,
  type EndHow,
  type TermOfRecord,
  type TermRecord,
  type Transfer,
} from '../../src/election/record.js';

const SELF = { node: 'n-0000000009', czxid: 900n };
const RULES = { takeoverDelayMs: 0 };

function term(fields: Partial<TermOfRecord> = {}): TermOfRecord {
  return {
    term: 3,
    token: 500n,
    node: 'n-0000000005',
    leaderId: 'old',
    session: 's-old',
    leaseMs: 1000,
    metadata: {},
    electedAt: '',
    ended: null,
    ...fields,
  };
}

function view(latest: TermOfRecord | null, fields: Partial<TermRecord> = {}, current = true): RecordView {
  return { record: { ...EMPTY_RECORD, latest, ...fields }, version: 4, current };
}

/** Runs a story of [moment, event] pairs from a queue; gathers what it asked for. */
function run(queue: readonly string[], ...story: readonly [number, CampaignEvent][]) {
  let [state, first] = enterQueue(SELF, queue, 0);
  const asked: CampaignEffect[] = [...first];
  let last: readonly CampaignEffect[] = first;
  for (const [ms, event] of story) {
    [state, last] = campaignStep(state, event, ms, RULES);
    asked.push(...last);
  }
  return { state, last, asked, claim: last.find((effect) => effect.do === 'claim') };
}

const record = (read: RecordView): CampaignEvent => ({ type: 'record', view: read });
const gone = (node: string): CampaignEvent => ({ type: 'predecessor_changed', node, gone: true });
const found = (node: string): CampaignEvent => ({ type: 'predecessor', node, found: true });
const seen = (session = 's-old', ended = false): CampaignEvent => ({
  type: 'leader_seen',
  session,
  found: true,
  ended,
});

describe('waiting', () => {
  it('watches the predecessor alone, then reads the record, once and without a watch', () => {
    const { state, asked } = run(
      ['n-0000000005', 'n-0000000007'],
      [1, found('n-0000000007')],
      [2, record(view(term(), {}, false))],
    );
    expect(state.name).toBe('waiting');
    expect(asked).toEqual([
      { do: 'watch_predecessor', node: 'n-0000000007' },
      { do: 'read_record', watch: false },
    ]);
  });

  it('steps to the one before when a predecessor that didn’t lead goes, without listing', () => {
    const { state, last } = run(
      ['n-0000000005', 'n-0000000007'],
      [1, record(view(term(), {}, false))],
      [2, gone('n-0000000007')],
    );
    expect(predecessorOf(state)).toBe('n-0000000005');
    // With a watch: it leads, or is about to, as nobody stands before it.
    expect(last).toEqual([
      { do: 'watch_predecessor', node: 'n-0000000005' },
      { do: 'read_record', watch: true },
    ]);
  });

  it('knows that nobody older than the leader of record is left', () => {
    const leader = term({ node: 'n-0000000007' });
    const { state } = run(
      ['n-0000000001', 'n-0000000007'],
      [1, record(view(leader, {}, true))],
      [2, gone('n-0000000007')],
    );
    expect(state.name).toBe('patient');
  });

  it('a leader of a queue that was rotated since says nothing about who stands before us', () => {
    const leader = term({ node: 'n-2000000000', ended: { at: '', how: 'resigned' } });
    const { state } = run(
      ['n-0000000001', 'n-0000000007'],
      [1, record(view(leader, {}, false))],
      [2, gone('n-0000000007')],
    );
    expect(predecessorOf(state)).toBe('n-0000000001');
  });

  it('is no leader because somebody else’s predecessor went', () => {
    const { state, last } = run(['n-0000000005', 'n-0000000007'], [1, gone('n-0000000005')], [2, gone('n-0000000003')]);
    expect(predecessorOf(state)).toBe('n-0000000007');
    expect(last).toEqual([]);
  });

  it('steps on when the predecessor went before it could be watched, and lists again after two misses', () => {
    const queue = ['n-0000000001', 'n-0000000002', 'n-0000000003'];
    const { state, last } = run(
      queue,
      [1, { type: 'predecessor', node: 'n-0000000003', found: false }],
      [2, { type: 'predecessor', node: 'n-0000000002', found: false }],
    );
    expect(last).toEqual([{ do: 'list' }]);
    const [after, effects] = campaignStep(state, { type: 'listed', queue: [] }, 3, RULES);
    expect(after.name).toBe('patient');
    expect(effects).toContainEqual({ do: 'read_record', watch: true });
  });

  it('becomes the successor when the predecessor touches its node after its claim', () => {
    const touched: CampaignEvent = { type: 'predecessor_changed', node: 'n-0000000005', gone: false };
    const { asked, last } = run(
      ['n-0000000005'],
      [1, record(view(null, {}, false))],
      [2, touched],
      [3, record(view(term()))],
    );
    expect(asked).toContainEqual({ do: 'read_record', watch: true });
    expect(last).toEqual([{ do: 'prepare' }, { do: 'watch_leader', session: 's-old' }]);
  });

  it('its own node gone, it is out', () => {
    expect(run(['n-0000000005'], [1, { type: 'own_node_gone' }]).state).toMatchObject({
      name: 'out',
      why: 'node_gone',
      mayHaveClaimed: false,
    });
  });
});

/** A successor whose predecessor leads, with the leader's session node watched and last seen at 10. */
const successor: readonly [number, CampaignEvent][] = [
  [1, found('n-0000000005')],
  [2, record(view(term(), {}, true))],
  [10, seen()],
];

describe('patience', () => {
  it('counts from the successor’s last sighting while it was watched without a gap', () => {
    const { last, state } = run(['n-0000000005'], ...successor, [500, gone('n-0000000005')]);
    expect(last).toEqual([{ do: 'alarm', at: 10 + 1060 }]);
    expect(campaignStep(state, { type: 'alarm' }, 1069, RULES)[0].name).toBe('patient');
    expect(campaignStep(state, { type: 'alarm' }, 1070, RULES)[0].name).toBe('claiming');
  });

  it('costs nothing where the last sighting is older than the lease, as after an expiry', () => {
    const { claim } = run(['n-0000000005'], ...successor, [1500, gone('n-0000000005')]);
    expect(claim).toMatchObject({
      term: 4,
      token: 900n,
      version: 4,
      previous: { term: 3, token: 500n, end: 'vanished' },
    });
  });

  it('counts from the vacancy where a renewal was announced but not read yet', () => {
    const changed: CampaignEvent = { type: 'leader_changed', session: 's-old', gone: false };
    const { last } = run(['n-0000000005'], ...successor, [900, changed], [901, gone('n-0000000005')]);
    expect(last).toEqual([{ do: 'alarm', at: 901 + 1060 }]);
  });

  it('trusts no sighting from before a reconnect: what was missed is announced in no particular order', () => {
    const lost: [number, CampaignEvent] = [400, { type: 'disconnected' }];
    const { last } = run(['n-0000000005'], ...successor, lost, [2000, gone('n-0000000005')]);
    expect(last).toEqual([{ do: 'alarm', at: 2000 + 1060 }]);
    const seenAgain = run(['n-0000000005'], ...successor, lost, [600, seen()], [900, gone('n-0000000005')]);
    expect(seenAgain.asked.filter((effect) => effect.do === 'watch_leader')).toHaveLength(2);
    expect(seenAgain.last).toEqual([{ do: 'alarm', at: 600 + 1060 }]);
  });

  it('keeps its sightings when the session node goes: nothing is written to it ever again', () => {
    const { last } = run(
      ['n-0000000005'],
      ...successor,
      [500, { type: 'leader_changed', session: 's-old', gone: true }],
      [501, gone('n-0000000005')],
    );
    expect(last).toEqual([{ do: 'alarm', at: 10 + 1060 }]);
  });

  it('counts from the vacancy for who has seen nothing: a newcomer, or one that was not the successor', () => {
    const { last } = run([], [5, record(view(term()))]);
    expect(last).toEqual([{ do: 'alarm', at: 5 + 1060 }]);
  });

  it('is not needed where the end is in the record, or in the old leader’s session node, or nobody ever led', () => {
    const ended = term({ ended: { at: '', how: 'resigned' } });
    expect(run([], [5, record(view(ended))]).claim).toMatchObject({ previous: { end: 'resigned' } });
    expect(run([], [5, record(view(null))]).claim).toMatchObject({ term: 1, token: 900n, previous: null });
    const marked = run(['n-0000000005'], ...successor, [20, seen('s-old', true)], [21, gone('n-0000000005')]);
    expect(marked.claim).toMatchObject({ previous: { end: 'died' } });
  });

  it('ends as soon as the end is announced', () => {
    const late = run([], [5, record(view(term()))], [6, { type: 'record_changed' }]);
    expect(late.last).toEqual([{ do: 'read_record', watch: true }]);
    const [state] = campaignStep(late.state, record(view(term({ ended: { at: '', how: 'resigned' } }))), 7, RULES);
    expect(state.name).toBe('claiming');
  });

  it('starts anew for a term that it had not heard of', () => {
    const { last } = run(
      [],
      [5, record(view(term()))],
      [600, record(view(term({ term: 4, token: 600n, node: 'n-0000000006' })))],
    );
    expect(last).toEqual([{ do: 'alarm', at: 600 + 1060 }]);
  });

  it('is waited out by who has read the record without a watch at last, too', () => {
    const late: [number, CampaignEvent] = [501, record(view(term(), {}, false))];
    const { state } = run(['n-0000000005'], ...successor, [500, gone('n-0000000005')], late);
    expect(campaignStep(state, { type: 'alarm' }, 1070, RULES)[0].name).toBe('claiming');
    const newer = { ...view(term(), {}, false), version: 5 };
    const read = run(['n-0000000005'], ...successor, [500, gone('n-0000000005')], [501, record(newer)]);
    expect(read.last).toEqual([{ do: 'read_record', watch: true }]);
  });

  it('is owed to a term whose record was deleted by hand', () => {
    const absent = { record: EMPTY_RECORD, version: -1, current: false };
    const { last } = run([], [5, record(view(term()))], [600, record(absent)]);
    expect(last).toEqual([{ do: 'alarm', at: 5 + 1060 }]);
    const waited = run(
      ['n-0000000005'],
      ...successor,
      [400, { type: 'record_changed' }],
      [401, record(absent)],
      [500, gone('n-0000000005')],
    );
    expect(waited.state.name).toBe('patient');
    // The floor went with the record: nobody may be given a token that resources refuse.
    const lower = { type: 'record', view: { ...view(term({ token: 2_000n }), { floor: 1_500n }) } } as const;
    const { state } = run([], [5, lower], [600, record(absent)]);
    expect(state).toMatchObject({ name: 'out', why: 'token_regressed', token: 900n, highest: 2_000n });
    // No watch can be left where there is no record: nothing but this alarm would wake it.
    expect(waited.last).toEqual([expect.objectContaining({ do: 'alarm' })]);
  });

  it('is followed by the takeover delay', () => {
    const [state] = enterQueue(SELF, [], 0);
    const [, effects] = campaignStep(state, record(view(term())), 5, { takeoverDelayMs: 300 });
    expect(effects).toEqual([{ do: 'alarm', at: 5 + 1060 + 300 }]);
  });

  it('a paused election is not claimed until the pause is over', () => {
    const pause = { by: 'ops', at: '', reason: '' };
    const { state, asked } = run([], [5, record(view(null, { pause }))], [50_000, { type: 'alarm' }]);
    expect(state.name).toBe('patient');
    expect(asked.some((effect) => effect.do === 'claim')).toBe(false);
    expect(campaignStep(state, record(view(null)), 60_000, RULES)[0].name).toBe('claiming');
  });

  it('concludes nothing while it does not know whether its own node is still there', () => {
    const later = record(view(term({ token: 1200n })));
    const unsure: [number, CampaignEvent][] = [
      [4, { type: 'own_node_unsure' }],
      [5, later],
    ];
    expect(run([], ...unsure).state.name).toBe('patient');
    expect(run([], ...unsure, [6, { type: 'own_node_gone' }]).state).toMatchObject({ name: 'out', why: 'node_gone' });
    expect(run([], ...unsure, [6, { type: 'own_node_sure' }]).state).toMatchObject({ why: 'token_regressed' });
  });

  it('a token that would not exceed the last one is reported, not retried', () => {
    const { state } = run([], [5, record(view(term({ token: 900n, ended: { at: '', how: 'resigned' } })))]);
    expect(state).toMatchObject({ name: 'out', why: 'token_regressed', token: 900n });
    expect(
      run([], [5, record(view(term({ token: 1400n, ended: { at: '', how: 'resigned' } }), { floor: 501n }))]).claim,
    ).toMatchObject({ token: 1401n });
  });
});

const instant = (ms: number) => ({ monotonic: ms, boot: ms });

describe('the claim', () => {
  const ours = term({ term: 1, token: 900n, node: SELF.node, leaderId: 'me', session: 's-me' });
  const sent: [number, CampaignEvent] = [6, { type: 'claim_sent', sentAt: instant(6) }];

  it('opens the term as soon as it is confirmed, whatever the record says behind it: that is for the term to judge', () => {
    const { state, asked } = run(
      [],
      [5, record(view(null))],
      sent,
      [7, { type: 'record_changed' }],
      [8, { type: 'claimed', view: view(ours, {}, false) }],
    );
    expect(state).toMatchObject({ name: 'claimed', latest: ours, sentAt: instant(6) });
    expect(asked.filter((effect) => effect.do === 'read_record')).toHaveLength(1);
  });

  it('does not where our own node has gone', () => {
    const dead = run(
      [],
      [5, record(view(null))],
      sent,
      [7, { type: 'own_node_gone' }],
      [8, { type: 'claimed', view: view(ours, {}, false) }],
    );
    expect(dead.state).toMatchObject({ name: 'out', why: 'node_gone', mayHaveClaimed: true });
  });

  it('refused, it looks again, and is patient with whoever won', () => {
    const { state, last } = run(
      [],
      [5, record(view(null))],
      sent,
      [7, { type: 'claim_unclear' }],
      [8, record(view(term()))],
    );
    expect(state.name).toBe('patient');
    expect(last).toEqual([{ do: 'alarm', at: 8 + 1060 }]);
  });

  it('with its reply lost is recognised in the record, its lease counted from the first sending', () => {
    const { state } = run(
      [],
      [5, record(view(null))],
      sent,
      [7, { type: 'claim_unclear' }],
      [3000, record(view(ours))],
    );
    expect(state).toMatchObject({ name: 'claimed', sentAt: instant(6) });
  });
});

describe('a transfer', () => {
  const date = (ms: number) => new Date(ms).toISOString();
  /** To somebody behind us, for five seconds. */
  const transfer: Transfer = { to: 'n-0000000012', by: 'ops', at: date(0), reason: 'why', deadline: date(5_000) };
  const ended = term({ ended: { at: '', how: 'transferred' } });
  const asked = (fields: Partial<Transfer> = {}) => record(view(ended, { transfer: { ...transfer, ...fields } }));
  const target = (stands: boolean, node = transfer.to): CampaignEvent => ({ type: 'target', node, found: stands });

  it('has the first candidate step back for its target, once it knows that this still stands', () => {
    const seeking = run([], [5, asked()]);
    expect(seeking.last).toEqual([{ do: 'seek', node: transfer.to }]);
    expect(seeking.state.name).toBe('patient');
    const { state, last } = run([], [5, asked()], [6, target(true)]);
    expect(state).toMatchObject({ name: 'out', why: 'stepped_back', mayHaveClaimed: false });
    expect(last).toEqual([]);
  });

  it('is void without its target: the first candidate claims', () => {
    expect(run([], [5, asked()], [6, target(false)]).claim).toMatchObject({ term: 4 });
  });

  it('is void past its deadline, counted from its first sighting here, whatever the wall clocks say', () => {
    expect(run([], [5, asked({ at: date(9e12), deadline: date(9e12 + 100) })]).last).toEqual([
      { do: 'seek', node: transfer.to },
    ]);
    const waiting: [number, CampaignEvent][] = [
      [1, found('n-0000000005')],
      [2, record(view(term(), { transfer }, true))],
    ];
    expect(run(['n-0000000005'], ...waiting, [4_000, gone('n-0000000005')]).last).toContainEqual({
      do: 'seek',
      node: transfer.to,
    });
    const late = run(['n-0000000005'], ...waiting, [5_003, gone('n-0000000005')]);
    expect(late.asked).not.toContainEqual({ do: 'seek', node: transfer.to });
    expect(run([], [5, asked({ deadline: 'nonsense' })]).claim).toBeDefined();
  });

  it('to ourselves is claimed at once', () => {
    expect(run([], [5, asked({ to: SELF.node })]).claim).toMatchObject({ term: 4 });
  });

  it('steps back without waiting for the old lease: only who claims has to', () => {
    const story: [number, CampaignEvent][] = [
      [5, record(view(term(), { transfer }))],
      [6, target(true)],
    ];
    expect(run([], ...story).state).toMatchObject({ why: 'stepped_back' });
  });

  it('a pause beats it, and a later one takes its place while we ask', () => {
    const pause = { by: 'ops', at: '', reason: '' };
    expect(run([], [5, record(view(ended, { transfer, pause }))]).asked).not.toContainEqual({
      do: 'seek',
      node: transfer.to,
    });
    const paused = run([], [5, asked()], [6, record(view(ended, { transfer, pause }))], [7, target(true)]);
    expect(paused.state.name).toBe('patient');
    expect(paused.claim).toBeUndefined();
    const other = asked({ to: 'n-0000000013', at: date(1) });
    const { state, last } = run([], [5, asked()], [6, other], [7, target(true)]);
    expect(state.name).toBe('patient');
    expect(last).toEqual([]);
    expect(run([], [5, asked()], [6, other], [7, target(true, 'n-0000000013')]).state).toMatchObject({
      why: 'stepped_back',
    });
  });

  it('concludes nothing from an answer behind which the record has changed', () => {
    const { state, asked: all } = run([], [5, asked()], [6, { type: 'record_changed' }], [7, target(true)]);
    expect(state.name).toBe('patient');
    const [after, effects] = campaignStep(state, record(view(ended)), 8, RULES);
    expect(after.name).toBe('claiming');
    expect(effects).toHaveLength(1);
    expect(all.some((effect) => effect.do === 'claim')).toBe(false);
  });
});

describe('an eviction', () => {
  it('is on record, and yet its leader may not know: its lease is outlasted', () => {
    const evicted = term({ ended: { at: '', how: 'evicted' } });
    const { state, last } = run([], [5, record(view(evicted))]);
    expect(last).toEqual([{ do: 'alarm', at: 5 + 1060 }]);
    expect(campaignStep(state, { type: 'alarm' }, 1_065, RULES)[1]).toMatchObject([{ previous: { end: 'evicted' } }]);
    const seenBefore = run(
      ['n-0000000005'],
      ...successor,
      [400, { type: 'record_changed' }],
      [401, record(view(evicted))],
      [500, gone('n-0000000005')],
    );
    expect(seenBefore.last).toEqual([{ do: 'alarm', at: 10 + 1060 }]);
  });
});

describe('a claim whose reply was lost', () => {
  it('is recognised by its node, though the floor was raised meanwhile', () => {
    const ours = term({ term: 1, token: 900n, node: SELF.node });
    const { state } = run(
      [],
      [5, record(view(null))],
      [6, { type: 'claim_sent', sentAt: instant(6) }],
      [7, { type: 'claim_unclear' }],
      [8, record(view(ours, { floor: 5_000n }))],
    );
    expect(state).toMatchObject({ name: 'claimed', latest: ours, replaced: null });
  });
});

describe('whatever happens', () => {
  const nodes = ['n-0000000003', 'n-0000000005', 'n-0000000007'];
  const anyTransfer: Transfer = {
    to: 'n-0000000012',
    by: 'ops',
    at: new Date(0).toISOString(),
    reason: 'why',
    deadline: new Date(900).toISOString(),
  };
  const anyTerm = fc.record({
    token: fc.bigInt({ min: 1n, max: 1200n }),
    node: fc.constantFrom(...nodes),
    leaseMs: fc.constantFrom(500, 1000),
    ended: fc.constantFrom<EndHow | null>(null, 'resigned', 'evicted'),
    transfer: fc.constantFrom<Transfer | null>(null, anyTransfer),
    pause: fc.constantFrom(null, null, { by: 'ops', at: '', reason: 'why' }),
  });
  const anyEvent = fc.oneof<fc.Arbitrary<CampaignEvent>[]>(
    fc.record({ type: fc.constant('predecessor' as const), node: fc.constantFrom(...nodes), found: fc.boolean() }),
    fc.record({
      type: fc.constant('predecessor_changed' as const),
      node: fc.constantFrom(...nodes),
      gone: fc.boolean(),
    }),
    fc.option(anyTerm).map((read): CampaignEvent => {
      if (read === null) return record(view(null));
      const { ended, transfer, pause, ...latest } = read;
      const how = ended === null ? null : { at: '', how: ended };
      return record(view(term({ ...latest, session: `s-${read.token}`, ended: how }), { transfer, pause }));
    }),
    fc.record({ type: fc.constant('target' as const), node: fc.constant(anyTransfer.to), found: fc.boolean() }),
    fc.constant({ type: 'record_changed' }),
    fc.record({
      type: fc.constant('leader_seen' as const),
      session: fc.constantFrom('s-1', 's-500'),
      found: fc.boolean(),
      ended: fc.constant(false),
    }),
    fc.constant({ type: 'alarm' }),
    fc.constant({ type: 'claim_unclear' }),
  );

  it('nobody claims with somebody ahead, with too low a token, or before an unannounced lease is outlasted', () => {
    fc.assert(
      fc.property(
        fc.subarray(nodes),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 700 }), anyEvent), { maxLength: 30 }),
        (queue, story) => {
          let now = 0;
          const gone = new Set<string>();
          const learnt = new Map<bigint, number>();
          const leaders = new Set<string>();
          let [state] = enterQueue(SELF, queue, 0) as [CampaignState, unknown];
          for (const [delay, what] of story) {
            now += delay;
            if (what.type === 'predecessor_changed' && what.gone) gone.add(what.node);
            if (what.type === 'predecessor' && !what.found) gone.add(what.node);
            if (what.type === 'record' && what.view.record.latest !== null) {
              const { token, node } = what.view.record.latest;
              leaders.add(node);
              if (!learnt.has(token)) learnt.set(token, now);
            }
            const [next, effects] = campaignStep(state, what, now, RULES);
            state = next;
            for (const effect of effects) {
              if (effect.do !== 'claim') continue;
              // Everyone ahead was seen to go, or stood before somebody who has led since.
              const oldest = Math.max(...[...leaders].map((node) => queue.indexOf(node)), -1);
              for (const [place, node] of queue.entries()) expect(gone.has(node) || place < oldest).toBe(true);
              const { latest } = effect.base;
              expect(effect.token > (latest?.token ?? 0n)).toBe(true);
              expect(effect.base.pause).toBeNull();
              if (latest !== null && (latest.ended === null || latest.ended.how === 'evicted')) {
                const first = learnt.get(latest.token) ?? 0;
                expect(now).toBeGreaterThanOrEqual(first + latest.leaseMs * 1.06);
              }
            }
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});
