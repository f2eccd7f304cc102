/**
 * One worker of the stack: embeds the module with metrics of its own, leads two elections, and writes to two guarded
 * resources while it does. SIGUSR2 hands `settlement` over; SIGTERM ends it.
 */
import pg from 'pg';
import { pino } from 'pino';
import { connect, fencingMetrics } from '../../src/index.js';
import { startTelemetry } from '../../src/telemetry/index.js';
import type { WorkerSettings } from './fleet.js';
import { openLedger, Work } from './work.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
const logger = pino();
const shutdown = new AbortController();
process.on('SIGTERM', () => shutdown.abort());

const telemetry = await startTelemetry({
  serviceName: 'worker',
  instanceId: settings.name,
  prometheus: { port: settings.metricsPort },
});
const pool = new pg.Pool({ ...settings.postgres, max: 6 });
pool.on('error', (error) => logger.warn({ err: error }, 'a connection to PostgreSQL has ended'));
const observer = fencingMetrics({ resources: ['ledger', 'archive'], tasks: ['payouts'] });
const { guard, ledger } = await openLedger(pool, observer);
const tenure = await connect({
  servers: settings.servers,
  sessionTimeoutMs: settings.sessionTimeoutMs,
  probeEnsemble: { intervalMs: settings.probeMs, timeoutMs: 1_000 },
  logger,
});

const settlement = new Work(guard, 'ledger', logger, { tasks: ledger, observer });
const reports = new Work(guard, 'archive', logger);
process.on('SIGUSR2', () => settlement.handOver());

const lead = (election: string, work: Work) =>
  tenure.election(election, { id: settings.name }).lead((term) => work.lead(term), {
    signal: shutdown.signal,
    recover: (term) => work.recover(term),
    again: true,
    cooldownMs: 300,
    onError: 'rejoin',
  });

try {
  await Promise.allSettled([lead('settlement', settlement), lead('reports', reports)]).then((ends) => {
    for (const end of ends) {
      if (end.status === 'rejected' && !shutdown.signal.aborted) throw end.reason;
    }
  });
} finally {
  await tenure.close();
  await pool.end();
  await telemetry.shutdown();
}
