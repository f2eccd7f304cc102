import type pg from 'pg';
import { workspace } from '../../deploy/local/directory.js';
import { type Ensemble, type Postgres, startEnsemble, startPostgres } from '../../deploy/local/index.js';
import { connect } from '../../src/index.js';
import { openBank, openBooks } from './bank.js';
import type { Chronicle } from './chronicle.js';
import { Fleet } from './fleet.js';
import type { Pace } from './options.js';
import { Payments } from './payments.js';
import { type StatusPage, startStatusPage } from './status-page.js';

/** Everything that takes part: the servers, the books, the workers, the payments. */
export interface Stage {
  readonly directory: string;
  readonly chronicle: Chronicle;
  readonly ensemble: Ensemble;
  readonly postgres: Postgres;
  readonly pool: pg.Pool;
  readonly fleet: Fleet;
  readonly payments: Payments;
  /** Comes later than the rest: nothing waits for it. */
  readonly page: Promise<StatusPage>;
  readonly pace: Pace;
  /** Starts the process of a worker that has ended, as whatever supervises it would. */
  relaunch(name: string): void;
  /** Who stands in the queue, as `name (pid)`. */
  candidates(): Promise<string[]>;
  close(): Promise<void>;
}

/** The folder of all logs. It goes at exit, unless `TENURE_KEEP` is set by then. */
export function logFolder(): string {
  return workspace('settlement').path;
}

export async function setStage(
  directory: string,
  pace: Pace,
  chronicle: Chronicle,
  onProgress: (line: string) => void,
): Promise<Stage> {
  // The workers load their code while the servers start.
  const fleet = new Fleet(directory, chronicle);
  const [ensemble, postgres] = await Promise.all([
    startEnsemble({ tickTime: pace.tickTimeMs, initLimit: 20, directory: `${directory}/zookeeper`, onProgress }),
    startPostgres({ directory: `${directory}/postgres`, onProgress }),
  ]);
  const pool = openBank(postgres.config, 4);
  await openBooks(pool);
  const settings = {
    servers: ensemble.connectString,
    sessionTimeoutMs: pace.sessionTimeoutMs,
    postgres: postgres.config,
  };
  for (const member of fleet.members) fleet.begin(member, settings);
  const page = startStatusPage(ensemble.connectString, directory);
  page.then(
    ({ url }) => onProgress(`the status page of a sidecar is at ${url}`),
    (error: Error) => onProgress(`there is no status page: ${error.message}`),
  );
  return {
    directory,
    chronicle,
    ensemble,
    postgres,
    pool,
    fleet,
    payments: new Payments(pool),
    page,
    pace,
    relaunch: (name) => fleet.begin(fleet.launch(name), settings),
    candidates: () => candidates(ensemble.connectString),
    async close() {
      const closed = page.then(
        (one) => one.close(),
        () => {},
      );
      await Promise.all([fleet.kill(), closed]);
      await pool.end();
      await Promise.all([ensemble.close(), postgres.close()]);
    },
  };
}

async function candidates(servers: string): Promise<string[]> {
  const tenure = await connect({ servers });
  try {
    const view = await tenure.election('settlement').current();
    return view.candidates.map(({ id, data }) => `${id} (${data?.pid ?? 'foreign'})`);
  } finally {
    await tenure.close();
  }
}
