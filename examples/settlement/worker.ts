/** One worker of the fleet: embeds the module, settles while it leads. Started by the demo, which talks to it over its IPC channel. */
import { pino } from 'pino';
import { connect, type Tenure, type Term } from '../../src/index.js';
import { openBank, openTasks } from './bank.js';
import type { Command, News, Report, WorkerSettings } from './messages.js';
import { moment } from './moment.js';
import { Settling } from './settling.js';

const logger = pino();
const shutdown = new AbortController();
let settling: Settling | undefined;

/** Resolves when it is written. The moment is that of the call. */
function report(news: News): Promise<void> {
  const message: Report = { ...news, at: moment() };
  return new Promise((resolve) => {
    // Without the demo there is nobody to tell; the end of the channel stops us.
    if (!process.connected) resolve();
    else process.send?.(message, undefined, {}, () => resolve());
  });
}

/** Reports how long the lease lasts, never too late: the moment is taken before the clocks are read for what remains. */
function reportLease(term: Term): void {
  const now = moment();
  const remainingMs = term.remainingMs();
  if (remainingMs > 0) void report({ type: 'lease', term: term.number, until: now + remainingMs });
}

function reportEvents(tenure: Tenure): void {
  const { events } = tenure;
  events.on('elected', ({ term, token, cause }) => void report({ type: 'elected', term, token: `${token}`, cause }));
  events.on('suspect', ({ term, reason }) => void report({ type: 'suspect', term, reason }));
  events.on('leading', ({ term, suspectMs }) => void report({ type: 'leading', term, suspectMs }));
  events.on('lost', ({ term, reason }) => void report({ type: 'lost', term, reason }));
}

async function work(settings: WorkerSettings): Promise<void> {
  const pool = openBank(settings.postgres, 2);
  const tenure = await connect({
    servers: settings.servers,
    sessionTimeoutMs: settings.sessionTimeoutMs,
    logger,
    signal: shutdown.signal,
  });
  reportEvents(tenure);
  const work = new Settling({
    pool,
    tasks: openTasks(pool),
    observer: { failed: (job, err, final) => logger.error({ job, err, final }, 'a batch was not settled') },
    report,
    fenced: process.env['TENURE_DEMO_SABOTAGE'] !== 'no-fence',
  });
  settling = work;
  try {
    await tenure.election('settlement', { id: settings.name }).lead((term) => work.lead(term), {
      signal: shutdown.signal,
      recover: async (term) => {
        reportLease(term);
        // The event comes right before the term counts the renewal.
        const onRenewal = () => queueMicrotask(() => reportLease(term));
        tenure.events.on('renewal_confirmed', onRenewal);
        term.signal.addEventListener('abort', () => tenure.events.off('renewal_confirmed', onRenewal));
        await work.recover(term);
      },
      again: true,
      cooldownMs: 300,
      onError: 'rejoin',
    });
  } finally {
    await tenure.close();
    await pool.end();
  }
}

process.on('message', (command: Command) => {
  if (command.do === 'freeze_before_write') settling?.freezeBeforeWrite();
  else if (command.do === 'hand_over') settling?.handOver();
  else {
    work(command.settings)
      .catch((error: unknown) => {
        if (shutdown.signal.aborted) return;
        logger.error({ err: error }, 'this worker gives up');
        process.exitCode = 1;
      })
      .finally(() => process.connected && process.disconnect());
  }
});
process.on('SIGTERM', () => shutdown.abort());
process.on('disconnect', () => shutdown.abort());
