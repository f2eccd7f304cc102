import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { startAlertmanager, type WebServer, waitFor } from '../../deploy/local/index.js';
import { needs, outcome, output } from '../support/tools.js';
import { alertsFolder } from './mixin.js';

const folder = mkdtempSync(join(tmpdir(), 'tenure-alertmanager-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Labels = Readonly<Record<string, string>>;

interface Notification {
  readonly receiver: string;
  readonly status: string;
  readonly alerts: readonly { readonly status: string; readonly labels: Labels }[];
}

/** The rendered configuration with this on top of the config, in Jsonnet. */
async function configuration(name: string, config: string): Promise<string> {
  const file = join(folder, name);
  writeFileSync(
    file,
    await output('jsonnet', ['-S', '--tla-code', `config=${config}`, 'alertmanager.jsonnet'], alertsFolder),
  );
  return file;
}

/** Takes what Alertmanager sends. */
class Inbox implements AsyncDisposable {
  readonly received: Notification[] = [];
  readonly #server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    this.received.push(JSON.parse(body) as Notification);
    response.end();
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** `page: NoLeader a, TaskOverdue a`: what came, and to whom. */
  summary(): string[] {
    return this.received
      .map(({ receiver, alerts }) => {
        const names = alerts.map(({ labels }) =>
          [labels['alertname'], labels['election_name'], labels['cluster']].filter((word) => word).join(' '),
        );
        return `${receiver}: ${names.sort().join(', ')}`;
      })
      .sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const ours = { component: 'leader-election' };
const critical = { ...ours, severity: 'critical' };
const warning = { ...ours, severity: 'warning' };

async function post(server: WebServer, alerts: readonly Labels[]): Promise<void> {
  const answer = await fetch(`${server.url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(alerts.map((labels) => ({ labels, annotations: {} }))),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Names of the alerts that Alertmanager holds back. */
async function heldBack(server: WebServer): Promise<string[]> {
  const all = (await server.get('/api/v2/alerts')) as { labels: Labels; status: { inhibitedBy: string[] } }[];
  return all
    .filter(({ status }) => status.inhibitedBy.length > 0)
    .map(({ labels }) =>
      [labels['alertname'], labels['election_name'], labels['cluster']].filter((word) => word).join(' '),
    )
    .sort();
}

const quick = (url: string, more = ''): string => `{
  alertmanager+: {
    receivers: { page: { webhook_configs: [{ url: '${url}/page' }] }, warn: { webhook_configs: [{ url: '${url}/warn' }] } },
    page: { group_wait: '1s', group_interval: '1s', repeat_interval: '1h' },
    warn: { group_wait: '1s', group_interval: '1s', repeat_interval: '1h' },
    ${more}
  },
}`;

describe('the configuration', () => {
  it('is one to Alertmanager, also without any planned maintenance', async (context) => {
    needs(context, 'amtool', 'jsonnet');
    const files = [
      join(alertsFolder, 'out/alertmanager.yaml'),
      await configuration('no-maintenance.yaml', '{ alertmanager+: { maintenance: [] } }'),
    ];
    for (const file of files) {
      const { code, all } = await outcome('amtool', ['check-config', file]);
      expect(code, all).toBe(0);
    }
  });

  it.for([
    ['page', 'component=leader-election severity=critical alertname=FrequentElections election_name=settlement'],
    ['page', 'component=leader-election severity=critical alertname=TwoLeadersSameTerm'],
    ['page', 'component=leader-election severity=critical alertname=QuorumLost cluster=eu'],
    ['warn', 'component=leader-election severity=warning alertname=NoStandby'],
    ['nobody', 'component=leader-election severity=info alertname=Anything'],
    ['warn', 'component=leader-election alertname=NoSeverity'],
    ['warn', 'component=another severity=critical alertname=DiskFull'],
  ] as const)('routes to %s: %s', async ([receiver, labels], context) => {
    needs(context, 'amtool');
    const file = join(alertsFolder, 'out/alertmanager.yaml');
    const args = ['config', 'routes', 'test', `--config.file=${file}`];
    const { code, all } = await outcome('amtool', [...args, `--verify.receivers=${receiver}`, ...labels.split(' ')]);
    expect(code, all).toBe(0);
    const wrong = await outcome('amtool', [...args, '--verify.receivers=nobody-else', ...labels.split(' ')]);
    expect(wrong.code).not.toBe(0);
  });
});

describe('a real Alertmanager', () => {
  it('sends one page for one election, with all that is wrong with it', async (context) => {
    needs(context, 'prometheus-alertmanager', 'jsonnet');
    await using inbox = new Inbox();
    const configFile = await configuration('grouping.yaml', quick(await inbox.listen(), 'maintenance: [],'));
    await using server = await startAlertmanager({ configFile });
    await post(server, [
      { ...critical, alertname: 'FrequentElections', election_name: 'settlement', cluster: 'eu' },
      { ...critical, alertname: 'NoLeader', election_name: 'settlement', cluster: 'eu' },
      { ...critical, alertname: 'NoLeader', election_name: 'reports', cluster: 'eu' },
      { ...warning, alertname: 'FencedWrites', resource: 'ledger', cluster: 'eu' },
    ]);
    await waitFor(() => inbox.received.length >= 3, { what: 'three notifications' });
    expect(inbox.summary()).toEqual([
      'page: FrequentElections settlement eu, NoLeader settlement eu',
      'page: NoLeader reports eu',
      'warn: FencedWrites eu',
    ]);
  });

  it('says that the quorum is lost, and nothing of what follows from it', async (context) => {
    needs(context, 'prometheus-alertmanager', 'jsonnet');
    await using inbox = new Inbox();
    const configFile = await configuration('inhibition.yaml', quick(await inbox.listen(), 'maintenance: [],'));
    await using server = await startAlertmanager({ configFile });
    await post(server, [
      { ...critical, alertname: 'QuorumLost', cluster: 'eu' },
      { ...critical, alertname: 'NoLeader', election_name: 'settlement', cluster: 'eu' },
      { ...critical, alertname: 'TaskOverdue', task: 'payouts', election_name: 'settlement', cluster: 'eu' },
      { ...warning, alertname: 'SessionExpirations', cluster: 'eu', job: 'worker' },
      // Safety, and another ensemble.
      { ...critical, alertname: 'TwoLeadersSameTerm', election_name: 'settlement', cluster: 'eu' },
      { ...critical, alertname: 'NoLeader', election_name: 'settlement', cluster: 'us' },
    ]);
    await waitFor(() => inbox.received.length >= 3, { what: 'three notifications' });
    await sleep(2_000);
    expect(inbox.summary()).toEqual([
      'page: NoLeader settlement us',
      'page: QuorumLost eu',
      'page: TwoLeadersSameTerm settlement eu',
    ]);
    expect(await heldBack(server)).toEqual([
      'NoLeader settlement eu',
      'SessionExpirations eu',
      'TaskOverdue settlement eu',
    ]);
  });

  it('holds a consequence back for the same election or resource only', async (context) => {
    needs(context, 'prometheus-alertmanager', 'jsonnet');
    await using inbox = new Inbox();
    const configFile = await configuration('causes.yaml', quick(await inbox.listen(), 'maintenance: [],'));
    await using server = await startAlertmanager({ configFile });
    await post(server, [
      { ...critical, alertname: 'TokenRegressed', election_name: 'settlement' },
      { ...critical, alertname: 'NoLeader', election_name: 'settlement' },
      { ...warning, alertname: 'NoStandby', election_name: 'settlement' },
      { ...critical, alertname: 'NoLeader', election_name: 'reports' },
      { ...critical, alertname: 'TokenRegressed', resource: 'ledger' },
      { ...warning, alertname: 'FencedWrites', resource: 'ledger' },
      { ...warning, alertname: 'FencedWrites', resource: 'mail' },
    ]);
    await waitFor(() => inbox.received.length >= 4, { what: 'four notifications' });
    expect(await heldBack(server)).toEqual(['FencedWrites', 'NoLeader settlement', 'NoStandby settlement']);
  });

  it('is silent in planned maintenance, but for what is never planned', async (context) => {
    needs(context, 'prometheus-alertmanager', 'jsonnet');
    await using inbox = new Inbox();
    const always = `maintenance: [{ weekdays: ['sunday:saturday'] }],`;
    const configFile = await configuration('maintenance.yaml', quick(await inbox.listen(), always));
    await using server = await startAlertmanager({ configFile });
    await post(server, [
      { ...critical, alertname: 'FrequentElections', election_name: 'settlement' },
      { ...critical, alertname: 'QuorumLost' },
      { ...warning, alertname: 'NoStandby', election_name: 'settlement' },
      { ...critical, alertname: 'TokenRegressed', election_name: 'reports' },
      { ...critical, alertname: 'TwoLeadersSameTerm', election_name: 'settlement' },
    ]);
    await waitFor(() => inbox.received.length >= 2, { what: 'two notifications' });
    await sleep(2_000);
    expect(inbox.summary()).toEqual(['page: TokenRegressed reports', 'page: TwoLeadersSameTerm settlement']);
  });
});
