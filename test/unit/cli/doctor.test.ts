import { describe, expect, it } from 'vitest';
import type { CandidateFacts, ElectionFacts, Facts, ServerFacts, SessionFacts } from '../../../src/cli/doctor/facts.js';
import { type Check, type Finding, worst } from '../../../src/cli/doctor/finding.js';
import { judgeElections } from '../../../src/cli/doctor/judge-elections.js';
import { judgeEnsemble } from '../../../src/cli/doctor/judge-ensemble.js';
import { judgeSession } from '../../../src/cli/doctor/judge-session.js';
import { parseBounds, parseDump } from '../../../src/cli/doctor/look-at-ensemble.js';
import { report } from '../../../src/cli/doctor/report.js';
import { styleFor } from '../../../src/cli/style.js';
import { judge } from '../../../src/zookeeper/ensemble.js';
import { fromSrvr, type ServerStatus } from '../../../src/zookeeper/server-status.js';

const SESSION: SessionFacts = {
  openedInMs: 10,
  grantedMs: 10_000,
  readsMs: [0.5, 1],
  writesMs: [2, 3],
  skew: { aheadMs: 4, errorMs: 2 },
};

const status = (more: Partial<ServerStatus> = {}): ServerStatus => ({
  ...fromSrvr('This ZooKeeper instance is not currently serving requests\n'),
  mode: 'follower',
  zxid: 0x5_0000_0007n,
  version: '3.9.5-293c895, built on 2026-02-11 20:18 UTC',
  ...more,
});

function server(index: number, more: Partial<ServerFacts> = {}): ServerFacts {
  const mode = index === 3 ? 'leader' : 'follower';
  return {
    server: `zk${index}:2181`,
    voter: true,
    named: true,
    status: status({ mode, syncedFollowers: index === 3 ? 2 : null }),
    session: SESSION,
    bounds: { tickMs: 2_000, minMs: 4_000, maxMs: 40_000 },
    ...more,
  };
}

function facts(servers: readonly ServerFacts[] = [server(1), server(2), server(3)], more: Partial<Facts> = {}): Facts {
  const found = servers.map((each) => {
    const [host = '', port] = each.server.split(':');
    return { member: { address: { host, port: Number(port) }, voter: each.voter }, status: each.status };
  });
  return {
    asked: { sessionTimeoutMs: 10_000, root: '/tenure', tls: false },
    ensemble: { servers, health: judge(found), membersKnown: true },
    access: { path: '/tenure', rootExists: true, acl: null, forbidden: [], prepared: false, readOnly: false },
    elections: [],
    liveSessions: null,
    native: { state: 'good', message: 'it loads' },
    ...more,
  };
}

/** What is found of one kind: `severity: message`. */
function of(check: Check, findings: readonly Finding[]): string[] {
  return findings.filter((each) => each.check === check).map(({ severity, message }) => `${severity}: ${message}`);
}

/** That each one that is not ok says what to do. */
function sound(findings: readonly Finding[]): readonly Finding[] {
  for (const { severity, fix } of findings) expect(fix === null).toBe(severity === 'ok');
  return findings;
}

const down = status({ mode: 'down', error: 'connect ECONNREFUSED 10.0.0.1:2181', version: null, zxid: null });
const refused = { error: 'none within 3000 ms', denied: false };

describe('the ensemble', () => {
  it('that is well is told as such', () => {
    const found = sound([...judgeEnsemble(facts()), ...judgeSession(facts())]);
    expect(worst(found)).toBe('ok');
    expect(of('quorum', found)).toEqual(['ok: 3 of 3 voters serve, led by zk3:2181']);
    expect(of('session_timeout', found)).toEqual(['ok: granted as asked for: 10 s, so a lease of 6.67 s']);
  });

  it('with a server that is down is a warning, and with none left an error', () => {
    const one = sound(judgeEnsemble(facts([server(1, { status: down, session: refused }), server(2), server(3)])));
    expect(of('reachability', one)).toEqual([
      'warning: zk1:2181 grants no session: connect ECONNREFUSED 10.0.0.1:2181',
    ]);
    expect(of('quorum', one)).toEqual(['warning: 2 of 3 voters serve: the next one that goes takes the quorum along']);
    const looking = status({ mode: 'looking', version: null, zxid: null });
    const away = [1, 2].map((index) => server(index, { status: down, session: refused }));
    const all = sound(judgeEnsemble(facts([...away, server(3, { status: looking, session: refused })])));
    expect(of('reachability', all)[2]).toBe('error: zk3:2181 runs but serves nobody: it has no quorum');
    expect(of('quorum', all)[0]).toMatch(/^error: no quorum: 0 of 3 voters serve/);
  });

  it('that may not speak has a quorum where it grants sessions', () => {
    const mute = status({ mode: 'unknown', refused: ['srvr', 'mntr'], version: null, zxid: null });
    const found = sound(judgeEnsemble(facts([1, 2, 3].map((index) => server(index, { status: mute })))));
    expect(of('quorum', found)).toEqual(['notice: there is a quorum, but the servers may not say how good it is']);
    expect(of('words', found)).toEqual(['warning: zk1:2181, zk2:2181, zk3:2181: srvr and mntr not allowed']);
  });

  it('of one server, of an even number, or with one far behind, is told', () => {
    const alone = server(1, { status: status({ mode: 'standalone' }) });
    expect(of('quorum', sound(judgeEnsemble(facts([alone]))))).toEqual(['warning: zk1:2181 is alone']);
    const four = facts([
      server(1),
      server(2),
      server(4),
      server(3, { status: status({ mode: 'leader', syncedFollowers: 3 }) }),
    ]);
    expect(of('quorum', judgeEnsemble(four))).toEqual(['notice: 4 voters bear no more failures than 3 do']);
    const behind = server(1, { status: status({ zxid: 0x5_0000_0000n }) });
    const leader = server(3, { status: status({ mode: 'leader', syncedFollowers: 2, zxid: 0x5_0000_1000n }) });
    const late = judgeEnsemble(facts([behind, server(2, { status: status({ zxid: 0x5_0000_1000n }) }), leader]));
    expect(of('quorum', late)).toEqual(['warning: zk1:2181 is 4096 transactions behind the leader']);
  });

  it('of several or of old releases is told', () => {
    const mixed = judgeEnsemble(facts([server(1, { status: status({ version: '3.8.4-x' }) }), server(2), server(3)]));
    expect(of('versions', sound(mixed))).toEqual([
      'warning: several releases of ZooKeeper: 3.8.4 (zk1:2181); 3.9.5 (zk2:2181, zk3:2181)',
    ]);
    const old = judgeEnsemble(facts([server(1, { status: status({ mode: 'standalone', version: '3.4.14-y' }) })]));
    expect(of('versions', old)).toEqual(['warning: ZooKeeper 3.4.14 is old']);
  });

  it('and the connect string are compared', () => {
    const unnamed = facts([server(1), server(2, { named: false }), server(3)]);
    expect(of('membership', sound(judgeEnsemble(unnamed)))).toEqual([
      "notice: the connect string doesn't name zk2:2181",
    ]);
    const strange = facts([
      server(1),
      server(2),
      server(3),
      server(4, { voter: false, status: down, session: refused }),
    ]);
    expect(of('membership', sound(judgeEnsemble(strange)))).toEqual([
      "warning: the connect string names zk4:2181, which the ensemble doesn't know",
    ]);
    const alias = facts([server(1), server(2), server(3, { named: false }), server(4, { voter: false })]);
    expect(of('membership', judgeEnsemble(alias))[0]).toMatch(
      /^notice: the connect string names zk4:2181, the ensemble/,
    );
  });
});

const withSession = (more: Partial<SessionFacts>) => facts([server(1, { session: { ...SESSION, ...more } })]);

describe('the session', () => {
  it('with another timeout than asked for, or different ones, is told', () => {
    const other = sound(judgeSession(withSession({ grantedMs: 40_000 })));
    expect(of('session_timeout', other)).toEqual(['warning: asked for 10 s, granted 40 s; it grants 4 s to 40 s']);
    const unlike = facts([server(1), server(2, { session: { ...SESSION, grantedMs: 8_000 } })]);
    expect(of('session_timeout', sound(judgeSession(unlike)))[0]).toMatch(
      /^error: the servers grant different timeouts: zk1/,
    );
    const short = facts([server(1, { session: { ...SESSION, grantedMs: 4_000 } })]);
    const asked = { ...short, asked: { ...short.asked, sessionTimeoutMs: 4_000 } };
    expect(of('session_timeout', judgeSession(asked))).toEqual([
      'notice: a timeout of 4 s is less than four ticks of 2 s',
    ]);
  });

  it('that is slow is a warning from the time between renewals on, an error from half a lease on', () => {
    expect(of('round_trips', judgeSession(withSession({ writesMs: [2, 1_100] })))[0]).toMatch(
      /^warning: .*longer than the 1 s/,
    );
    expect(of('round_trips', judgeSession(withSession({ writesMs: [2, 3_400] })))[0]).toMatch(
      /^error: .*more than half a lease/,
    );
    expect(of('round_trips', judgeSession(withSession({ writesMs: [] })))[0]).toMatch(
      /^ok: zk1:2181: a read takes 0.5 ms/,
    );
  });

  it('shows the skew of the clocks, and warns only of what its error leaves certain', () => {
    const skew = (aheadMs: number, errorMs: number) => judgeSession(withSession({ skew: { aheadMs, errorMs } }));
    expect(of('clock_skew', sound(skew(5_000, 10)))[0]).toMatch(/^warning: .*5 s ahead of ours \(to within 10 ms\)/);
    expect(of('clock_skew', sound(skew(-5_000, 10)))[0]).toMatch(/^warning: .*5 s behind ours/);
    expect(of('clock_skew', skew(1_500, 600))[0]).toMatch(/^ok: /);
  });

  it('without rights is an error, and open to all a notice', () => {
    const access = { path: '/tenure', rootExists: true, prepared: false, readOnly: false };
    const world = [{ scheme: 'world', id: 'anyone', permissions: 'cdrwa' }];
    const shut = facts(undefined, { access: { ...access, acl: world, forbidden: ['create', 'write'] } });
    expect(of('access', sound(judgeSession(shut)))).toEqual(['error: /tenure: we may not create, write']);
    expect(of('acl', sound(judgeSession(shut)))[0]).toMatch(/^notice: \/tenure is open to everybody/);
    const own = [
      { scheme: 'digest', id: 'ops:hash', permissions: 'cdrwa' },
      { ...world[0], permissions: 'r' },
    ];
    const kept = facts(undefined, { access: { ...access, acl: own as typeof world, forbidden: [] } });
    expect(of('acl', judgeSession(kept))[0]).toMatch(/^ok: \/tenure is kept to digest:ops:hash/);
  });

  it('of the native driver: a socket that children inherit is an error, one that is not installed a warning', () => {
    const state = (state: Facts['native']['state']) =>
      of('native_driver', sound(judgeSession(facts(undefined, { native: { state, message: 'x' } }))));
    expect(state('inherits')).toEqual(['error: x']);
    expect(state('unavailable')).toEqual(['warning: x']);
    expect(state('unused')).toEqual([]);
  });
});

const MINUTE = 60_000;

const candidate = (id: string, more: Partial<CandidateFacts> = {}): CandidateFacts => ({
  node: `_c_${id}-lock-0000000001`,
  id,
  owner: '100000000000000a',
  goneHere: false,
  ageMs: 60 * MINUTE,
  foreign: false,
  ...more,
});

function election(candidates: CandidateFacts[], more: Partial<ElectionFacts> = {}): ElectionFacts {
  return {
    election: 'pay',
    candidates,
    standing: candidates.length,
    headroom: 2_000_000_000,
    strangers: [],
    record: { kind: 'read', ageMs: 60 * MINUTE, leaderNode: candidates[0]?.node ?? null, paused: null },
    ...more,
  };
}

const about = (one: ElectionFacts, live: ReadonlySet<string> | null = null) =>
  sound(judgeElections(facts(undefined, { elections: [one], liveSessions: live }))).map(
    ({ severity, message }) => `${severity}: ${message}`,
  );

describe('elections', () => {
  it('that are well are counted', () => {
    expect(about(election([candidate('a')]))).toEqual([
      'ok: nothing is left over, and all with candidates are led (1 in all, with 1 candidates)',
    ]);
    expect(judgeElections(facts())).toEqual([]);
  });

  it('near the end of their numbers are told early', () => {
    expect(about(election([], { headroom: 90_000_000 }))[0]).toMatch(/^warning: "pay" can number 90000000 more/);
    expect(about(election([], { headroom: 900_000 }))[0]).toMatch(/^error: /);
  });

  it('with a candidate that never goes, or whose session is gone, are told', () => {
    expect(about(election([candidate('a', { owner: null })]))[0]).toMatch(/^error: .*no ephemeral znode/);
    expect(about(election([candidate('a')]), new Set(['ff']))[0]).toMatch(
      /^error: .*session 100000000000000a, which the ensemble doesn't know/,
    );
    expect(about(election([candidate('a')]), new Set(['100000000000000a']))[0]).toMatch(/^ok/);
    // It may have joined behind our look at the sessions.
    expect(about(election([candidate('a', { ageMs: 100 })]), new Set())[0]).toMatch(/^ok/);
    expect(about(election([candidate('a', { goneHere: true })]))[0]).toMatch(
      /^notice: .*says that it runs on this machine/,
    );
    expect(about(election([candidate('a')], { strangers: ['x\u0007'] }))[0]).toBe(
      'notice: "pay": x� lies in the queue and is no candidate',
    );
  });

  it('that nobody leads although somebody could are an error, but not right after a vacancy', () => {
    const record = { kind: 'read', ageMs: 60 * MINUTE, leaderNode: null, paused: null } as const;
    expect(about(election([candidate('a')], { record }))[0]).toMatch(/^error: nobody leads "pay", although "a"/);
    expect(about(election([candidate('a')], { record: { ...record, ageMs: 1_000 } }))[0]).toMatch(/^ok/);
    expect(about(election([candidate('a', { ageMs: 1_000 })], { record }))[0]).toMatch(/^ok/);
    expect(about(election([candidate('a', { foreign: true })], { record }))[0]).toMatch(/^ok/);
    const paused = { by: 'ada', at: 'noon', reason: 'a test' };
    expect(about(election([candidate('a')], { record: { ...record, paused } }))).toEqual([
      'notice: "pay" is paused by ada since noon: a test',
    ]);
  });

  it('that are dead or have an unreadable record are told', () => {
    const record = { kind: 'read', ageMs: 40 * 24 * 60 * MINUTE, leaderNode: null, paused: null } as const;
    expect(about(election([], { record }))[0]).toMatch(
      /^notice: nobody stands in "pay", and nothing has happened there for 40 d/,
    );
    expect(about(election([], { record: { ...record, ageMs: MINUTE } }))[0]).toMatch(/^ok/);
    expect(about(election([], { record: { kind: 'unreadable', message: 'no JSON' } }))[0]).toBe(
      'error: "pay": no JSON',
    );
  });

  it('in large numbers are cut', () => {
    const many = Array.from({ length: 50 }, () => election([candidate('a', { owner: null })]));
    const found = judgeElections(facts(undefined, { elections: many }));
    expect(found).toHaveLength(21);
    expect(found.at(-1)?.message).toBe('… and 30 more of this kind');
  });
});

it('reads the bounds in which a server grants timeouts', () => {
  expect(parseBounds('clientPort=1\ntickTime=500\nminSessionTimeout=1000\nmaxSessionTimeout=10000\n')).toEqual({
    tickMs: 500,
    minMs: 1_000,
    maxMs: 10_000,
  });
  expect(parseBounds('conf is not executed because it is not in the whitelist.\n')).toBeNull();
});

it("reads the sessions that an ensemble's leader knows, and none of a follower", () => {
  const leader =
    'SessionTracker dump:\nSession Sets (2)/(1):\n0 expire at Mon Nov 30 06:09:26 UTC 2026:\n' +
    '2 expire at Mon Nov 30 06:09:30 UTC 2026:\n\t0x200000b39aa0006\n\t0x100000b39aa0001\nephemeral nodes dump:\n' +
    'Sessions with Ephemerals (1):\n0x300000b39aa0006:\n\t/tenure/pay\n';
  expect(parseDump(leader)).toEqual(new Set(['0200000b39aa0006', '0100000b39aa0001']));
  expect(parseDump('SessionTracker dump:\nGlobal Sessions(0):\nephemeral nodes dump:\n')).toBeNull();
  expect(parseDump('')).toBeNull();
});

it('reports the grave ones last, with what to do, and counts them', () => {
  const one = facts([server(1, { status: down, session: refused }), server(2), server(3)]);
  const text = report(judgeEnsemble(one), { style: styleFor(false), columns: 60 });
  const lines = text.split('\n');
  expect(lines[0]).toMatch(/^ok /);
  expect(lines.at(-1)).toBe('0 errors, 2 warnings, 0 notices');
  expect(text).toMatch(/^warning {2}quorum: .*\n( {9}.*\n)* {9}do: bring the others back now$/m);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
