import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeCandidate, encodeCandidate } from '../../../src/election/candidate.js';
import { decodeHistory, encodeHistory } from '../../../src/election/history.js';
import { decodeRecord, encodeRecord } from '../../../src/election/record.js';
import { connect } from '../../../src/index.js';
import { output } from '../../support/tools.js';
import { type Block, project } from '../markdown.js';
import type { Check } from './check.js';
import { scriptOf } from './scripts.js';
import { secureServers } from './secure-servers.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parsed = (data: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(data));

/** JSON that our own code reads, and would write in just this way. */
function written(again: (text: string) => Uint8Array): Check {
  return {
    tools: [],
    async run({ code }) {
      assert.deepEqual(JSON.parse(code), parsed(again(code)));
      assert.deepEqual(Object.keys(JSON.parse(code)), Object.keys(parsed(again(code)) as object));
    },
  };
}

const candidate = written((text) => {
  const data = decodeCandidate(bytes(text));
  assert(data !== null);
  return encodeCandidate(data);
});

const record = written((text) => encodeRecord(decodeRecord(bytes(text), '/term')));

const entry = written((text) => {
  const entries = decodeHistory(bytes(`{"v":1,"entries":[${text}]}`));
  assert(entries?.length === 1);
  const [only] = (parsed(encodeHistory(entries)) as { entries: unknown[] }).entries;
  return bytes(JSON.stringify(only));
});

/** What the script of the same page printed first has the same names, and values of the same kinds. */
const answer: Check = {
  tools: ['curl', 'jq'],
  async run({ page, code }, world) {
    const { out } = await scriptOf(world, page);
    const [first = ''] = /^\{[\s\S]*?^\}$/m.exec(out) ?? [];
    const kinds = (text: string) => Object.entries(JSON.parse(text)).map(([name, value]) => [name, typeof value]);
    assert.deepEqual(kinds(code), kinds(first));
  },
};

const scrape: Check = {
  tools: ['promtool'],
  async run({ code }, world) {
    const { folder } = await world.place();
    writeFileSync(join(folder, 'prometheus.yml'), code);
    const said = await output('promtool', ['check', 'config', 'prometheus.yml'], folder);
    assert.match(said, /SUCCESS/);
  },
};

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { alert: string; expr: string; for: string; annotations: { runbook_url: string } }[];
  }[];
}

const mixin: Check = {
  tools: ['jsonnet'],
  async run({ code }, world) {
    const { folder } = await world.place();
    symlinkSync(project, join(folder, 'tenure'));
    writeFileSync(join(folder, 'site.jsonnet'), `(${code}).prometheusAlerts`);
    const { groups } = JSON.parse(await output('jsonnet', ['-J', folder, 'site.jsonnet'], folder)) as Rules;
    const rules = groups.flatMap((group) => group.rules);
    const of = (alert: string) => rules.filter((rule) => rule.alert === alert);
    assert(rules.length > 10);
    for (const { expr } of rules) assert(!/job=/.test(expr) || expr.includes('settlement|ledger'), expr);
    for (const { annotations } of rules)
      assert.match(annotations.runbook_url, /^https:\/\/wiki\.example\.com\/tenure\//);
    assert.match(of('FrequentElections')[0]?.expr ?? '', /0\.5/);
    assert.match(of('NoStandby')[0]?.expr ?? '', /batch-\.\*/);
    assert.equal(of('RecoveryStuck')[0]?.for, '1h');
    assert.deepEqual(of('StaleLeaderLingers'), []);
    assert(rules.some(({ expr }) => expr.includes('payments/tenant-7')));
    assert(rules.some(({ expr }) => expr.includes('payouts')));
  },
};

const receivers: Check = {
  tools: ['jsonnet', 'amtool'],
  async run({ code }, world) {
    const { folder } = await world.place();
    const args = ['-S', '--tla-code', `config=${code}`, join(project, 'alerts/alertmanager.jsonnet')];
    writeFileSync(join(folder, 'alertmanager.yml'), await output('jsonnet', args));
    assert.match(
      await output('amtool', ['check-config', 'alertmanager.yml'], folder),
      /SUCCESS[\s\S]*3 receivers|SUCCESS/,
    );
    assert.match(await output('jsonnet', args), /pagerduty_configs/);
  },
};

/** A server starts with it, and takes a client with a certificate. */
const secureServer: Check = {
  tools: ['openssl'],
  async run(_block: Block, world) {
    const { address, files } = await secureServers(world);
    const tls = { caFile: files['ca.pem'], certFile: files['worker.pem'], keyFile: files['worker.key'] };
    const tenure = await connect({
      servers: address,
      driver: 'wire',
      lifeline: false,
      tls: tls as Required<typeof tls>,
    });
    await tenure.close();
    const bare = connect({ servers: address, driver: 'wire', lifeline: false, connectTimeoutMs: 1_000 });
    await assert.rejects(bare);
  },
};

export const DATA_CHECKS: Readonly<Record<string, Check>> = {
  'data of a candidate': candidate,
  'term record': record,
  'entry of the history': entry,
  'answer of the commands above': answer,
  'scrape configuration': scrape,
  'mixin of a site': mixin,
  'receivers of a site': receivers,
  'secure server': secureServer,
};
