/**
 * One worker of the stack, of docker-compose.yml and of deploy/kubernetes/native: embeds the module with metrics of its
 * own, leads two elections, and writes to two guarded resources while it does. SIGUSR2 hands `settlement` over; SIGTERM
 * ends it. Its settings come from the environment: see settings.ts.
 */
import pg from 'pg';
import { pino } from 'pino';
import { connect, fencingMetrics } from '../../src/index.js';
import { startTelemetry } from '../../src/telemetry/index.js';
import { servePages } from './pages.js';
import { settingsFrom } from './settings.js';
import { openLedger, Work } from './work.js';

const settings = settingsFrom(process.env);
const logger = pino();
const shutdown = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => shutdown.abort());

const telemetry = await startTelemetry({ serviceName: 'worker', instanceId: settings.name, prometheus: false });
const { password } = settings;
const pool = new pg.Pool({ ...(password ? { password } : {}), max: 6 });
pool.on('error', (error) => logger.warn({ err: error }, 'a connection to PostgreSQL has ended'));
const observer = fencingMetrics({ resources: ['ledger', 'archive'], tasks: ['payouts'] });
const { guard, ledger } = await openLedger(pool, observer);
const tenure = await connect({
  servers: settings.servers,
  sessionTimeoutMs: settings.sessionTimeoutMs,
  probeEnsemble: { intervalMs: settings.probeMs, timeoutMs: 1_000 },
  logger,
});

const parts = [
  {
    election: tenure.election('settlement', { id: settings.name }),
    work: new Work(guard, 'ledger', logger, { tasks: ledger, observer }),
  },
  { election: tenure.election('reports', { id: settings.name }), work: new Work(guard, 'archive', logger) },
];
process.on('SIGUSR2', () => parts[0]?.work.handOver());

await servePages(settings.pagesHost, settings.pagesPort, {
  metrics: telemetry.metricsHandler,
  healthz: () => {
    const ill = parts.map(({ election }) => election.health()).find(({ healthy }) => !healthy);
    return ill === undefined ? { ok: true, detail: 'healthy' } : { ok: false, detail: ill.detail };
  },
  readyz: () => ({ ok: tenure.session !== null, detail: tenure.session === null ? 'no session' : 'in a session' }),
});

try {
  const leading = parts.map(({ election, work }) =>
    election.lead((term) => work.lead(term), {
      signal: shutdown.signal,
      recover: (term) => work.recover(term),
      again: true,
      cooldownMs: 300,
      onError: 'rejoin',
    }),
  );
  for (const end of await Promise.allSettled(leading)) {
    if (end.status === 'rejected' && !shutdown.signal.aborted) throw end.reason;
  }
} finally {
  await tenure.close();
  await pool.end();
  await telemetry.shutdown();
}
