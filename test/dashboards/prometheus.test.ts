import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, startPrometheus, type WebServer, waitFor } from '../../deploy/local/index.js';
import { findCommand } from '../../deploy/local/process.js';
import { connect } from '../../src/index.js';
import { dashboards, filled, panels } from './dashboards.js';
import { FakeProcess } from './fake-process.js';

// Panels of ZooKeeper's own metrics ask real servers. Those of Tenure's ask a process that shows every instrument of the table, so
// that what is wrong here is the query: a label that isn't there, a join that matches nothing.
describe.skipIf(!findCommand('prometheus') && !process.env['TENURE_REQUIRE_ALL'])(
  'a real Prometheus (Debian: prometheus)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenure-panels-'));
    const fake = new FakeProcess();
    let ensemble: Ensemble;
    let prometheus: WebServer;

    beforeAll(async () => {
      const address = await fake.listen();
      ensemble = await startEnsemble({ size: 3, tickTime: 500, fsync: false, metrics: true });
      await ensemble.waitForQuorum();
      const servers = ensemble.servers.map(({ metricsUrl }) => new URL(metricsUrl ?? '').host);
      const configFile = join(folder, 'prometheus.json');
      const scrape = (job: string, targets: string[]) => ({ job_name: job, static_configs: [{ targets }] });
      writeFileSync(
        configFile,
        JSON.stringify({
          global: { scrape_interval: '1s' },
          scrape_configs: [scrape('worker', [address]), scrape('zookeeper', servers)],
        }),
      );
      prometheus = await startPrometheus({ configFile });
      // Something for ZooKeeper to write.
      await using tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 4_000 });
      await using term = await tenure.election('settlement').campaign();
      const end = performance.now() + 8_000;
      while (performance.now() < end) {
        await term?.update({ at: performance.now() });
        await sleep(50);
      }
      await waitFor(async () => (await series('leader_election_term')) > 0, { what: 'the first scrape' });
    }, 120_000);

    afterAll(async () => {
      await prometheus?.close();
      await ensemble?.close();
      await fake[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    /** How many series answer a query. */
    async function series(query: string): Promise<number> {
      const answer = (await prometheus.get('/api/v1/query', { query })) as { data: { result: unknown[] } };
      return answer.data.result.length;
    }

    it('answers every query of every panel', async () => {
      const queries = dashboards().flatMap((dashboard) =>
        panels(dashboard).flatMap(({ title, targets = [] }) =>
          targets.map(({ refId, expr }) => ({
            panel: `${dashboard.uid}: ${title} ${refId}`,
            query: filled(expr, { __rate_interval: '6s', __range: '10s' }),
          })),
        ),
      );
      expect(queries.length).toBeGreaterThan(60);
      const silent: string[] = [];
      for (const { panel, query } of queries) {
        // Subqueries look at every fifteenth second of the clock.
        const answered = waitFor(async () => (await series(query)) > 0, {
          what: panel,
          timeoutMs: 16_000,
          intervalMs: 500,
        });
        await answered.catch(() => silent.push(`${panel}: ${query}`));
      }
      expect(silent).toEqual([]);
    });

    it('says nothing where there is nothing', async () => {
      expect(await series('leader_election_no_such_metric')).toBe(0);
    });
  },
);
