import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { waitFor } from '../../deploy/local/index.js';
import { connect } from '../../src/index.js';
import { alertsFolder } from '../alerts/mixin.js';
import type { MetricsPage } from '../support/metrics-page.js';
import { testProvider } from '../support/telemetry-run.js';
import { needs, outcome } from '../support/tools.js';
import { interop } from './scene.js';

/* A leader of another library, as Tenure's users see it: in views, in metrics, and by nobody being paged. */

const T = 4_000;
const ELECTION = 'seen';
const e = { election_name: ELECTION };

/** What promtool says when the series of a page have stood as they are for ten minutes, and NoLeader must not fire, or must. */
async function judged(page: MetricsPage, firing: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tenure-interop-'));
  try {
    const series = [...page.text.matchAll(/^(leader_election_\w+)\{([^}]*election_name="[^}]*)\} (\S+)$/gm)].map(
      ([, name, labels, value]) =>
        `      - { series: '${name}{${labels},job="worker",instance="a"}', values: "${value}x40" }`,
    );
    expect(series.length).toBeGreaterThan(5);
    const expected = firing
      ? `
        exp_samples:
          - labels: 'ALERTS{alertname="NoLeader", alertstate="firing", severity="critical", component="leader-election", election_name="${ELECTION}"}'
            value: 1`
      : '';
    const file = join(folder, 'test.yaml');
    writeFileSync(
      file,
      `rule_files: [${join(alertsFolder, 'out/rules.yaml')}]
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series:
${series.join('\n')}
    promql_expr_test:
      - expr: ALERTS{alertname="NoLeader"}
        eval_time: 10m${expected}
`,
    );
    const { code, all } = await outcome('promtool', ['test', 'rules', file]);
    return code === 0 ? '' : all;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interop('a leader of another library', (scene) => {
  it('is shown as such with its token, is known to metrics, and nobody is paged', async (context) => {
    needs(context, 'promtool');
    await using queue = await scene().open({ name: ELECTION, sessionTimeoutMs: T });
    const leader = await queue.enter('curator selector');
    const second = await queue.enter('go lock');
    const { provider, scrape } = testProvider();
    const servers = scene().ensemble.connectString;
    await using tenure = await connect({ servers, sessionTimeoutMs: T, meterProvider: provider });
    const election = tenure.election(ELECTION, { id: 'ours' });
    const campaign = election.campaign();
    await queue.operator.queueOf(ELECTION, 3);

    const { token } = await queue.leaderAfter(0n);
    const view = await election.current();
    expect(view).toMatchObject({ state: 'led', term: 0, token: null });
    expect(view.leader).toMatchObject({ id: leader.id, foreign: true, token, term: null, electedAt: null });
    expect(view.candidates.map(({ id }) => id)).toEqual([leader.id, second.id, 'ours']);

    // It stands third: who leads it can only know by looking.
    await waitFor(async () => (await scrape()).value('foreign_leader', e) === 1, {
      what: 'a foreign leader in metrics',
    });
    const led = await scrape();
    expect(led.value('leader_status', e)).toBe(0);
    expect(await judged(led, false)).toBe('');

    // The next one is killed: a session that lives on for a while stands where the leader would.
    await queue.kill(second);
    leader.leave();
    const term = await campaign;
    const ours = await election.current();
    expect(ours.leader).toMatchObject({ id: 'ours', foreign: false, token: term.token, term: 1 });
    const after = await scrape();
    expect([after.value('foreign_leader', e), after.value('leader_status', e)]).toEqual([0, 1]);
    expect(await judged(after, false)).toBe('');

    await term.resign();
    // Nobody leads now, and the page says so: the alert that was silent before would fire.
    await waitFor(async () => (await scrape()).value('leader_status', e) === 0, { what: 'no leader in metrics' });
    expect(await judged(await scrape(), true)).toBe('');
  });

  it('is nobody where only a node without an owner is first', async () => {
    await using queue = await scene().open({ name: 'ownerless', sessionTimeoutMs: T });
    const { session } = queue.operator;
    for (const path of [queue.operator.root, `${queue.operator.root}/ownerless`, queue.place.path]) {
      await session.create(path, new Uint8Array(), 'persistent').catch(() => {});
    }
    await session.create(`${queue.place.path}/_c_left-lock-0000000000`, Buffer.from('left'), 'persistent');
    await using tenure = await connect({ servers: queue.place.servers, sessionTimeoutMs: T });
    expect(await tenure.election('ownerless').current()).toMatchObject({ state: 'vacant', leader: null });
  });

  it('is none of ours that has joined a queue of theirs and has not claimed yet', async () => {
    await using queue = await scene().open({ name: 'theirs', root: '/app', sessionTimeoutMs: T });
    const foreign = await queue.enter('kazoo shared');
    await using tenure = await connect({ servers: queue.place.servers, sessionTimeoutMs: T });
    const election = tenure.election('theirs', { id: 'guest', queuePath: queue.place.path });
    const leaving = new AbortController();
    const campaign = election.campaign({ signal: leaving.signal }).catch(() => {});
    await queue.operator.queueOf('theirs', 2);
    expect((await election.current()).leader).toMatchObject({ id: foreign.id, foreign: true });
    await election.pause({ by: 'test', reason: 'so that it stands first and claims nothing' });
    await queue.kill(foreign);
    await queue.operator.queueOf('theirs', 1);
    const view = await election.current();
    expect(view.candidates.map(({ id, data }) => [id, data])).toEqual([['guest', null]]);
    expect(view).toMatchObject({ state: 'paused', leader: null });
    leaving.abort();
    await campaign;
  });
});
