import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ALL_INSTRUMENTS } from '../../src/telemetry/instruments.js';
import { needs, outcome, output } from '../support/tools.js';
import { alertsFolder, groups, type Rule, rules, seconds } from './mixin.js';

const folder = mkdtempSync(join(tmpdir(), 'tenure-alerts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tests = readdirSync(join(alertsFolder, 'tests')).filter((name) => name.endsWith('.yaml'));
const naive = fileURLToPath(new URL('naive-rules.yaml', import.meta.url));

/** The alerts by severity: nobody drops one unnoticed. */
const CRITICAL = ['FrequentElections', 'NoLeader', 'QuorumLost', 'TaskOverdue', 'TokenRegressed', 'TwoLeadersSameTerm'];
const WARNING = [
  'DuplicateWork',
  'ElectionMissing',
  'FencedWrites',
  'NoStandby',
  'PausedTooLong',
  'QuorumAtRisk',
  'RecoveryStuck',
  'RenewalSlow',
  'SequenceHeadroom',
  'SessionExpirations',
  'StaleLeaderLingers',
];

/** What is wrong with a rule, a line each. */
function lint(rule: Rule): string[] {
  const { summary = '', description = '', runbook_url = '', dashboard_url = '' } = rule.annotations;
  const found = [
    /^([A-Z][a-z0-9]+)+$/.test(rule.alert) || 'its name is not in CamelCase',
    rule.alert.length <= 40 || 'its name is longer than 40 characters',
    ['critical', 'warning', 'info'].includes(rule.labels['severity'] ?? '') || 'it has no known severity',
    seconds(rule.for) >= 60 || `it waits for less than a minute: ${rule.for}`,
    seconds(rule.keep_firing_for) >= 60 || `it may flap: keep_firing_for ${rule.keep_firing_for}`,
    (/^[A-Z].*\.$/.test(summary) && !summary.includes('{{')) || 'its summary is no sentence that is the same each time',
    /\{\{.*\}\}/.test(description) || 'its description says nothing about the case',
    /^https?:\/\//.test(runbook_url) && runbook_url.includes(rule.alert) ? true : 'it has no runbook',
    /^https?:\/\/.*\/d\/tenure-/.test(dashboard_url) || 'it leads to no dashboard',
    !/\brate\(\s*sum/.test(rule.expr) || 'it takes the rate of a sum',
    // A range or a look at one moment: a counter as it stands only ever rises.
    !/_total(\{[^}]*\})?\s*(>|<|=)/.test(rule.expr) || 'it compares a counter, which latches',
  ];
  return found.filter((entry) => entry !== true).map((entry) => `${rule.alert}: ${entry}`);
}

describe('the rules', () => {
  it('are what the sources render to', async (context) => {
    needs(context, 'jsonnet');
    await output('bash', ['render.sh', folder], alertsFolder);
    for (const name of ['rules.yaml', 'prometheusrule.yaml', 'prometheus.yaml', 'alertmanager.yaml']) {
      expect(readFileSync(join(folder, name), 'utf8'), `${name}: run alerts/render.sh`).toBe(
        readFileSync(join(alertsFolder, 'out', name), 'utf8'),
      );
    }
  });

  it('are rules to Prometheus', async (context) => {
    needs(context, 'promtool');
    const { code, all } = await outcome('promtool', ['check', 'rules', 'out/rules.yaml'], alertsFolder);
    expect(code, all).toBe(0);
  });

  it('are all there, with the severity that they should have', async (context) => {
    needs(context, 'jsonnet');
    const all = await rules();
    const withSeverity = (severity: string) =>
      [...new Set(all.filter((rule) => rule.labels['severity'] === severity).map((rule) => rule.alert))].sort();
    expect(withSeverity('critical')).toEqual(CRITICAL);
    expect(withSeverity('warning')).toEqual(WARNING);
    expect(withSeverity('info')).toEqual([]);
  });

  it('keep the rules for rules', async (context) => {
    needs(context, 'jsonnet');
    expect((await rules()).flatMap(lint)).toEqual([]);
    for (const group of await groups()) expect(group.rules.length, group.name).toBeLessThanOrEqual(20);
  });

  it('break the rules for rules where they do', () => {
    const bad: Rule = {
      alert: 'badName',
      expr: 'rate(sum(x)) > 0 and y_total{a="b"} > 3',
      for: '30s',
      keep_firing_for: '0s',
      labels: { severity: 'page' },
      annotations: { summary: 'Server {{ $labels.x }} is bad', description: 'Bad' },
    };
    expect(lint(bad)).toHaveLength(10);
    expect(lint({ ...bad, alert: 'A'.repeat(41) })).toHaveLength(11);
  });

  it('name only metrics that exist', async (context) => {
    needs(context, 'jsonnet');
    const known = new Set(
      ALL_INSTRUMENTS.flatMap(({ prometheus, kind }) =>
        kind === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => prometheus + end) : [prometheus],
      ),
    );
    const named = (await rules()).flatMap((rule) => rule.expr.match(/\bleader_election_\w+/g) ?? []);
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('the parameters', () => {
  it('make one rule for each election that must exist, in groups of twenty', async (context) => {
    needs(context, 'jsonnet');
    const names = Array.from({ length: 45 }, (_, index) => `tenant-${index}`);
    const found = (await groups(`{ elections: ${JSON.stringify(names)} }`)).filter((group) =>
      group.name.startsWith('tenure-expected-elections'),
    );
    expect(found.map((group) => group.rules.length)).toEqual([20, 20, 5]);
    expect(found.flatMap((group) => group.rules).map((rule) => /election_name="([^"]*)"/.exec(rule.expr)?.[1])).toEqual(
      names,
    );
  });

  it('reach every rule: selector, labels, windows, thresholds', async (context) => {
    needs(context, 'jsonnet', 'promtool');
    const config = `{
      selector: 'job="payments"', clusterLabel: 'ensemble', electionLabel: 'election', grafanaUrl: '', alertLabels: { team: 'core' },
      elections: [{ name: 'a', selector: 'ensemble="eu"' }],
      alerts+: { FrequentElections+: { window: '7m', perCandidate: 0, base: 0 }, NoStandby+: { except: 'solo-.*' }, NoLeader+: { enabled: false } },
    }`;
    const all = await rules(config);
    for (const { alert, expr, labels, annotations } of all) {
      for (const selector of expr.match(/\b(leader_election_\w+|up)(\{[^}]*\})?/g) ?? [])
        expect(selector, alert).toContain('{job="payments"');
      expect(expr, alert).not.toMatch(/election_name|\bcluster\b/);
      expect(labels, alert).toMatchObject({ team: 'core' });
      expect(annotations, alert).not.toHaveProperty('dashboard_url');
    }
    const expr = (alert: string) => all.find((rule) => rule.alert === alert)?.expr;
    expect(expr('FrequentElections')).toContain('[7m:30s]');
    expect(expr('NoStandby')).toContain('election!~"solo-.*"');
    expect(expr('ElectionMissing')).toContain('ensemble="eu"');
    expect(expr('NoLeader')).toBeUndefined();

    const file = join(folder, 'other.yaml');
    writeFileSync(
      file,
      await output('jsonnet', ['-S', '--tla-code', `config=${config}`, 'rules.jsonnet'], alertsFolder),
    );
    const checked = await outcome('promtool', ['check', 'rules', file]);
    expect(checked.code, checked.all).toBe(0);
  });
});

it('QuorumLost outlasts the pages that it silences, so that none comes when the quorum is back', async (context) => {
  needs(context, 'jsonnet');
  const keep = new Map((await rules()).map(({ alert, keep_firing_for }) => [alert, seconds(keep_firing_for)]));
  const margin = 60; // A session timeout, and a failover.
  expect(keep.get('QuorumLost')).toBeGreaterThan((keep.get('NoLeader') ?? Number.NaN) + margin);
});

describe('promtool', () => {
  it.for(tests)('%s', async (name, context) => {
    needs(context, 'promtool');
    const { code, all } = await outcome('promtool', ['test', 'rules', name], join(alertsFolder, 'tests'));
    expect(code, all).toBe(0);
  });

  it('sees each alert fire, with all that it says', () => {
    for (const alert of [...CRITICAL, ...WARNING]) {
      expect(tests).toContain(`${alert}.yaml`);
      const text = readFileSync(join(alertsFolder, 'tests', `${alert}.yaml`), 'utf8');
      expect(text, alert).toContain('exp_annotations:');
      expect(text, alert).toContain(`runbooks.example.com/tenure/${alert}.md`);
    }
  });

  // What must leave our rules silent is no proof unless it wakes the rules that others write.
  it.for([
    ['rolling-restart.yaml', ['BornSince', 'FixedThreshold', 'NobodyLeads', 'RawTotal', 'VoterMissing']],
    ['scrape-skew.yaml', ['NobodyLeads', 'TwoLead', 'VoterMissing']],
    ['counter-reset.yaml', ['BornSince', 'LargestCounter', 'RawTotal']],
    ['scrape-gap.yaml', ['BornSince', 'ElectionAbsent', 'RawTotal', 'VoterMissing']],
  ] as const)('%s wakes naive rules', async ([name, awake], context) => {
    needs(context, 'promtool');
    const file = join(folder, name);
    const text = readFileSync(join(alertsFolder, 'tests', name), 'utf8');
    writeFileSync(file, text.replace(/^rule_files: .*$/m, `rule_files: [${JSON.stringify(naive)}]`));
    const { all } = await outcome('promtool', ['test', 'rules', file]);
    expect([...new Set([...all.matchAll(/alertname="(\w+)"/g)].map(([, alert]) => alert))].sort()).toEqual(awake);
  });
});
