// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is quoted here is source text
/** A deliberate fault in the protocol: what a tired programmer, or another library, does. */
export interface Mutant {
  readonly name: string;
  /** Below src/. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  /** What it must lead to, where it isn't found by any schedule: tests that find it by other means. */
  readonly tests?: readonly string[];
  /** The faults that bring it out, for chaos. */
  readonly faults?: readonly string[];
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a read of the leader's session is never forgotten",
    file: 'election/shared-reads.ts',
    find: '        watched.read = null;\n',
    replace: '        void watched;\n',
  },
  {
    name: "a read of the leader's session is never shared",
    file: 'election/shared-reads.ts',
    find: 'if (watched.read === null) {',
    replace: 'if (watched.read !== undefined) {',
    tests: ['test/integration/election/cost.test.ts'],
  },
  {
    name: 'the owner of our own node is not checked',
    file: 'election/own-node.ts',
    find: 'return own?.stat.owner === this.#session.id ? own.stat.czxid : null;',
    replace: 'return own?.stat.czxid ?? null;',
    tests: ['test/unit/own-node.test.ts'],
  },
  {
    name: 'an answer to a reconnect is taken for a renewal',
    file: 'election/holding.ts',
    find: "    case 'connected':\n      return [holding, [{ do: 'renew' }]];",
    replace:
      "    case 'connected':\n      return watched({ ...confirmed(holding, now), doubt: null }, now, [{ do: 'renew' }]);",
    faults: ['handshakes_only', 'kill_worker'],
    tests: ['test/integration/election/handover.test.ts'],
  },
  {
    name: 'a read is taken for a renewal, as if it proved the session',
    file: 'zookeeper/renewals.ts',
    find: 'this.#session.write(path, ALIVE, -1).then(',
    replace: 'this.#session.read(path).then(',
    faults: ['cut_off_with_worker', 'cut_server'],
    tests: ['test/integration/election/cut-off.test.ts'],
  },
  {
    name: 'nobody is patient',
    file: 'election/campaign-step.ts',
    find: "    if (now < ends) return [state, [{ do: 'alarm', at: ends }]];",
    replace: '    void ends;',
    faults: ['delete_candidate', 'freeze_worker'],
  },
  {
    name: 'patience counts from an old sighting: one is not dated anew when it is seen again',
    file: 'election/campaign-step.ts',
    find: "  const sightings: Sightings = { kind: 'armed', at: now };",
    replace:
      "  const known = state.leader.sightings;\n  const sightings: Sightings = known.kind === 'armed' ? known : { kind: 'armed', at: Math.min(now, rules.firstSeen ??= now) };",
    faults: ['delete_candidate'],
  },
  {
    name: 'the lease counts from when a renewal was confirmed',
    file: 'zookeeper/renewals.ts',
    find: "this.#tell({ type: 'confirmed', sentAt, now });",
    replace: "this.#tell({ type: 'confirmed', sentAt: now, now });",
    faults: ['delay_replies', 'handshakes_only', 'kill_worker'],
    tests: ['test/integration/election/handover.test.ts', 'test/integration/election/trouble.test.ts'],
  },
  {
    name: 'a lease lasts one and a half session timeouts',
    file: 'lease/lease.ts',
    find: 'return lease.lengthMs - elapsed(lease.from, now);',
    replace: 'return 2.25 * lease.lengthMs - elapsed(lease.from, now);',
    faults: ['cut_worker', 'cut_off_with_worker'],
  },
  {
    name: 'the claim is written over whatever is there',
    file: 'election/claiming.ts',
    find: [
      "{ do: 'write', path, data, version };",
      '    const own = `${paths.queue}/${node}`;',
      '    await session.transaction([',
      "      touch === null ? { do: 'check', path: own } : { do: 'write', path: own, data: touch, version: -1 },",
      '      claim,',
      '    ]);',
      '  } else if (version === -1) {',
      "    await session.create(path, data, 'persistent');",
      '  } else {',
      '    await session.write(path, data, version);',
    ].join('\n'),
    replace: [
      "{ do: 'write', path, data, version: -1 };",
      '    const own = `${paths.queue}/${node}`;',
      '    await session.transaction([',
      "      touch === null ? { do: 'check', path: own } : { do: 'write', path: own, data: touch, version: -1 },",
      '      claim,',
      '    ]);',
      '  } else if (version === -1) {',
      "    await session.create(path, data, 'persistent');",
      '  } else {',
      '    await session.write(path, data, -1);',
    ].join('\n'),
    tests: ['test/unit/campaign.test.ts', 'test/integration/control'],
  },
  {
    name: 'a term does not look at what has come in behind its claim',
    file: 'election/keeper.ts',
    find: 'behind === null ? this.#judgeRecord() : this.#look(behind)',
    replace: 'this.#judgeRecord()',
    tests: ['test/unit/claim.test.ts'],
  },
  {
    name: 'a claim by the native driver opens the term without a look at our own node behind it',
    file: 'election/candidacy.ts',
    find: 'own.arm().then((czxid) => czxid !== null)',
    replace: 'Promise.resolve(true)',
    tests: ['test/unit/claim.test.ts'],
  },
  {
    name: 'a token is used again: that of the record, and one more term',
    file: 'election/campaign-step.ts',
    find: '        term: (record.latest?.term ?? 0) + 1,\n        token,',
    replace: '        term: (record.latest?.term ?? 0) + 1,\n        token: record.latest?.token ?? token,',
  },
  {
    name: 'an end is announced before the worker has stopped',
    file: 'election/holding.ts',
    find: "  return [{ name: 'draining', token, lease, doubt, why }, [{ do: 'abort', reason: why }]];",
    replace:
      "  return [\n    { name: 'draining', token, lease, doubt, why },\n    [\n      { do: 'abort', reason: why },\n      { do: 'release', announce: 'resigned' },\n    ],\n  ];",
    tests: ['test/integration/election/lead.test.ts', 'test/integration/election/handover.test.ts'],
  },
  {
    name: 'the deletion of our own node is not noticed while we lead',
    file: 'election/own-node.ts',
    find: '    this.#gone = true;\n    if (!this.#cancelled) this.#news.gone();',
    replace: '    this.#gone = false;',
    faults: ['delete_candidate'],
  },
  {
    name: 'a higher token in the record is not noticed',
    file: 'election/holding.ts',
    find: "    case 'superseded':\n    case 'evicted':\n      return lose(holding, 'superseded');",
    replace: "    case 'superseded':\n    case 'evicted':\n      return [holding, []];",
    tests: ['test/unit/holding.test.ts', 'test/integration/control'],
  },
  {
    name: 'doubt ends with any confirmed renewal, sent before it or not',
    file: 'election/holding.ts',
    find: 'const vouched = holding.doubt === null || sentAt.monotonic >= holding.doubt.since.monotonic;',
    replace: 'const vouched = true;',
    tests: ['test/unit/holding.test.ts'],
  },
  {
    name: 'assert() trusts its timers, and does not look at the clock',
    file: 'election/holding.ts',
    find: "return holding.name !== 'lost' && holding.doubt === null && leaseRemaining(holding.lease, now) > 0;",
    replace: "void now;\n  return holding.name !== 'lost' && holding.doubt === null;",
    faults: ['freeze_worker'],
    tests: ['test/unit/holding.test.ts'],
  },
  {
    name: 'every candidate watches the leader, not its predecessor',
    file: 'election/campaign-step.ts',
    find: "  return state.name === 'waiting' ? (state.queue[state.position - 1] ?? null) : null;",
    replace: "  return state.name === 'waiting' ? (state.queue[0] ?? null) : null;",
    tests: ['test/unit/campaign.test.ts', 'test/integration/election/cost.test.ts'],
  },
  {
    name: 'a candidate that gives up leaves its node',
    file: 'election/candidacy.ts',
    find: '    if (!own.others) void removeSurely(this.#host, session, own.path);',
    replace: '    if (own.others) void removeSurely(this.#host, session, own.path);',
    faults: ['huge_queue', 'lose_reply'],
    tests: ['test/integration/election/queue.test.ts'],
  },
  {
    name: 'the guard of PostgreSQL does not compare',
    file: 'fencing/postgres-schema.ts',
    find: '  IF highest > presented THEN',
    replace: '  IF false THEN',
    faults: ['cut_worker', 'kill_worker', 'delete_candidate'],
  },
  {
    name: 'a task that is done is done again',
    file: 'fencing/run-once.ts',
    find: 'if (done !== undefined) return { value: done.value as T, executed: false };',
    replace: 'if (done !== undefined) return { value: (await work(tx)) as T, executed: false };',
    faults: ['kill_worker', 'cut_worker'],
  },
];
