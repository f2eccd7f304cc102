import { workspace } from '../local/directory.js';
import {
  type Ensemble,
  type Postgres,
  startAlertmanager,
  startEnsemble,
  startPostgres,
  startPrometheus,
  type WebServer,
  waitFor,
} from '../local/index.js';
import { alertmanagerFile, ELECTIONS, prometheusFiles, type ScrapeTarget } from './configuration.js';
import { Worker } from './fleet.js';
import { Inbox, type Notification } from './inbox.js';
import type { Pace } from './pace.js';
import { Standings } from './standings.js';

export interface StackOptions {
  readonly pace: Pace;
  /** Where data and logs go, and stay. Default: a temporary folder that `close` removes. */
  readonly directory?: string;
  /** Whether ZooKeeper waits for the disk. Default true. */
  readonly fsync?: boolean;
  readonly onProgress?: (line: string) => void;
  /** Told of each notification, as a pager would be. */
  readonly onNotification?: (notification: Notification) => void;
}

/** Everything from the ensemble to the pager, for real. It doesn't outlive this process. */
export class Stack implements AsyncDisposable {
  readonly pace: Pace;
  readonly directory: string;
  readonly ensemble: Ensemble;
  readonly postgres: Postgres;
  readonly workers: readonly Worker[];
  readonly prometheus: WebServer;
  readonly alertmanager: WebServer;
  readonly inbox: Inbox;
  readonly standings: Standings;
  readonly #close: () => Promise<void>;

  private constructor(
    parts: Omit<Stack, 'worker' | 'query' | 'close' | typeof Symbol.asyncDispose>,
    close: () => Promise<void>,
  ) {
    this.pace = parts.pace;
    this.directory = parts.directory;
    this.ensemble = parts.ensemble;
    this.postgres = parts.postgres;
    this.workers = parts.workers;
    this.prometheus = parts.prometheus;
    this.alertmanager = parts.alertmanager;
    this.inbox = parts.inbox;
    this.standings = parts.standings;
    this.#close = close;
  }

  /** Starts all of it, and waits until there is a leader of each election and the first scrapes are in. */
  static async start(options: StackOptions): Promise<Stack> {
    const { pace, fsync = true, onProgress = () => {} } = options;
    const home = workspace('stack', options.directory);
    // Last started, first ended.
    const ends: (() => unknown)[] = [() => home.dispose()];
    const close = async (): Promise<void> => {
      for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
    };
    try {
      const inbox = new Inbox(options.onNotification);
      await inbox.listen();
      ends.push(() => inbox[Symbol.asyncDispose]());
      const workers = await Promise.all([1, 2, 3].map((number) => Worker.at(`worker-${number}`, home.path)));
      const servers = {
        directory: `${home.path}/zookeeper`,
        tickTime: pace.tickTimeMs,
        fsync,
        metrics: true,
        onProgress,
      };
      const [ensemble, postgres, alertmanager] = await allOrNone([
        startEnsemble({ ...servers, initLimit: 20 }).then(keep(ends)),
        startPostgres({ directory: `${home.path}/postgres`, onProgress }).then(keep(ends)),
        alertmanagerFile(home.path, pace, inbox.url)
          .then((configFile) => startAlertmanager({ configFile, directory: `${home.path}/alertmanager`, onProgress }))
          .then(keep(ends)),
      ]);
      ends.push(() => Promise.all(workers.map((worker) => worker.close())));
      const { config } = postgres;
      const { sessionTimeoutMs, probeMs } = pace;
      for (const worker of workers) {
        await worker.start({ servers: ensemble.connectString, sessionTimeoutMs, probeMs, postgres: config });
      }
      const configFile = await prometheusFiles(
        home.path,
        pace,
        targets(workers, ensemble),
        `${alertmanager.host}:${alertmanager.port}`,
      );
      const prometheus = await startPrometheus({ configFile, directory: `${home.path}/prometheus`, onProgress }).then(
        keep(ends),
      );
      const standings = await Standings.open(ensemble.connectString, ELECTIONS);
      ends.push(() => standings[Symbol.asyncDispose]());
      await Promise.all(workers.map((worker) => worker.waitUntilServing()));
      // Prometheus takes some seconds to begin.
      const { length } = targets(workers, ensemble);
      await waitFor(async () => (await ask(prometheus, 'up == 1')).length === length, { what: 'the first scrapes' });
      for (const election of ELECTIONS) {
        const { leader } = await standings.newLeader(election);
        onProgress(`${leader} leads ${election}`);
      }
      const directory = home.path;
      return new Stack(
        { pace, directory, ensemble, postgres, workers, prometheus, alertmanager, inbox, standings },
        close,
      );
    } catch (error) {
      await close();
      throw error;
    }
  }

  worker(name: string): Worker {
    const found = this.workers.find((worker) => worker.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  }

  /** Asks Prometheus for the present value of each series. */
  query(query: string): Promise<Sample[]> {
    return ask(this.prometheus, query);
  }

  close(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

async function ask(prometheus: WebServer, query: string): Promise<Sample[]> {
  const answer = (await prometheus.get('/api/v1/query', { query })) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] };
  };
  return answer.data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
}

/** One that fails doesn't leave others behind that are still starting. */
async function allOrNone<T extends readonly unknown[]>(starts: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(starts);
  return (await Promise.all(starts)) as unknown as T;
}

const keep =
  (ends: (() => unknown)[]) =>
  <T extends { close(): Promise<void> }>(server: T): T => {
    ends.push(() => server.close());
    return server;
  };

function targets(workers: readonly Worker[], ensemble: Ensemble): ScrapeTarget[] {
  return [
    ...workers.map(({ name, address }) => ({ job: 'worker', name, address })),
    ...ensemble.servers.map(({ id, metricsUrl = '' }) => ({
      job: 'zookeeper',
      name: `zookeeper-${id}`,
      address: new URL(metricsUrl).host,
    })),
  ];
}
