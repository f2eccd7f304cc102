import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../deploy/local/index.js';
import { Drills } from '../../deploy/stack/drills.js';
import type { Alert } from '../../deploy/stack/inbox.js';
import { FAST } from '../../deploy/stack/pace.js';
import { Stack } from '../../deploy/stack/running.js';
import { alertsFolder } from '../alerts/mixin.js';
import { missing } from '../support/tools.js';
import { silentPanels } from './panel-data.js';

const absent = missing('prometheus', 'prometheus-alertmanager', 'jsonnet');

const common = { component: 'leader-election', severity: 'critical', cluster: 'demo' };
const frequent = { ...common, alertname: 'FrequentElections', election_name: 'settlement' };
const quorumLost = { ...common, alertname: 'QuorumLost' };

/** A link that leads to a page that there is. */
function expectRunbook({ annotations }: Alert, name: string): void {
  const link = annotations['runbook_url'] ?? '';
  expect(link).toMatch(new RegExp(`^https://.*/${name}\\.md$`));
  expect(existsSync(join(alertsFolder, 'runbooks', basename(link)))).toBe(true);
}

// Where something isn't installed the reason is in the name, and with TENURE_REQUIRE_ALL=1 the start fails with it.
describe.skipIf(absent !== undefined && !process.env['TENURE_REQUIRE_ALL'])(
  `from the ensemble to the pager${absent === undefined ? '' : ` (${absent})`}`,
  () => {
    const story: string[] = [];
    const since = performance.now();
    const say = (line: string) =>
      story.push(`${((performance.now() - since) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
    let stack: Stack;
    let drills: Drills;

    beforeAll(async () => {
      if (absent !== undefined) throw new Error(absent);
      stack = await Stack.start({
        pace: FAST,
        onProgress: say,
        onNotification: ({ receiver, alerts }) => {
          for (const { status, labels } of alerts)
            say(`${receiver}: ${status} ${labels['alertname']} ${labels['election_name'] ?? ''}`);
        },
      });
      drills = new Drills(stack, say);
    }, 120_000);

    afterAll(async () => {
      await stack?.close();
      console.log(story.join('\n'));
    }, 60_000);

    /** Waits for a notification of that alert. */
    function arrival(receiver: string, status: Alert['status'], labels: Readonly<Record<string, string>>, from = 0) {
      return waitFor(() => stack.inbox.find(receiver, status, labels, from), {
        what: `${status} ${labels['alertname']} at ${receiver}:\n${story.join('\n')}\n`,
        timeoutMs: 60_000,
      });
    }

    it('pages for frequent elections, and says when they are over', { timeout: 150_000 }, async () => {
      await drills.pausedLeader();
      const last = await drills.frequentElections();
      const page = await arrival('page', 'firing', frequent);
      say(`FrequentElections paged ${((page.at - last.at) / 1_000).toFixed(1)} s after the last change of the leader`);
      expect(page.labels).toEqual(frequent);
      expect(page.annotations['summary']).toBe('The leadership of an election changes hands too often.');
      expect(page.annotations['description']).toMatch(/settlement.* changed leaders \d+ times in 30s/);
      expectRunbook(page, 'FrequentElections');
      // One more change, of another kind: it takes its place among those that are forgotten in time.
      await drills.frozenLeader();
      await arrival('page', 'resolved', frequent, page.at);
    });

    it('pages for a lost quorum, and not for what follows from it', { timeout: 150_000 }, async () => {
      const lost = await drills.loseQuorum();
      const page = await arrival('page', 'firing', quorumLost, lost);
      say(`QuorumLost paged ${((page.at - lost) / 1_000).toFixed(1)} s after the quorum was lost`);
      expect(page.labels).toEqual(quorumLost);
      expectRunbook(page, 'QuorumLost');
      const held = await waitFor(() => inhibited('NoLeader'), { what: 'NoLeader to be held back' });
      expect(held).toEqual(['reports', 'settlement']);
      await drills.restoreQuorum();
      await arrival('page', 'resolved', quorumLost, page.at);
      // Neither while the quorum was away nor when it came back.
      expect(stack.inbox.find('page', 'firing', { alertname: 'NoLeader' })).toBeUndefined();
    });

    /** The elections whose alerts of that name Alertmanager holds back because of QuorumLost; undefined until all are there. */
    async function inhibited(name: string): Promise<string[] | undefined> {
      const all = (await stack.alertmanager.get('/api/v2/alerts')) as {
        fingerprint: string;
        labels: Record<string, string>;
        status: { inhibitedBy: string[] };
      }[];
      const cause = all.find(({ labels }) => labels['alertname'] === 'QuorumLost')?.fingerprint ?? '';
      const held = all.filter(
        ({ labels, status }) => labels['alertname'] === name && status.inhibitedBy.includes(cause),
      );
      return held.length === 2 ? held.map(({ labels }) => labels['election_name'] ?? '').sort() : undefined;
    }

    it('has data for every query of every panel', { timeout: 60_000 }, async () => {
      expect(await silentPanels(stack)).toEqual([]);
    });
  },
);
