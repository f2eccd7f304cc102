/** Starts real servers and prints their addresses, until Ctrl-C: `npx tsx deploy/local/up.ts --help`. */
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type EnsembleOptions, fetchZooKeeper, startEnsemble, startPostgres, startRedis } from './index.js';

function read() {
  try {
    return parseArgs({
      options: {
        size: { type: 'string', default: '3' },
        postgres: { type: 'boolean', default: false },
        redis: { type: 'boolean', default: false },
        metrics: { type: 'boolean', default: false },
        version: { type: 'string' },
        directory: { type: 'string' },
        ports: { type: 'string' },
        'tick-time': { type: 'string' },
        fetch: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('. ')[0]}: --help lists the options\n`);
    process.exit(2);
  }
}

const values = read();

const usage = `Starts ZooKeeper, and what else is asked for, until Ctrl-C.

  --size N          1, 3 or 5 ZooKeeper servers (default 3)
  --postgres        a PostgreSQL server too
  --redis           a Redis server too
  --metrics         each ZooKeeper server exports metrics for Prometheus
  --version V       ZooKeeper's version (default: the one in deploy/local/zookeeper/pom.xml)
  --directory DIR   keep data and logs there (default: a temporary folder)
  --ports P,P,…     the ZooKeeper servers' client ports (default: free ones)
  --tick-time MS    ZooKeeper's tickTime (default 2000)
  --fetch           only fill the cache with ZooKeeper, and end
`;

function ensembleOptions(): EnsembleOptions {
  const size = Number(values.size);
  if (size !== 1 && size !== 3 && size !== 5) throw new Error(`--size ${values.size}: give 1, 3 or 5`);
  const ports = values.ports?.split(',').map(Number);
  if (ports && ports.length !== size)
    throw new Error(`--ports ${values.ports}: give ${size} ports, one for each server`);
  return {
    size,
    metrics: values.metrics,
    ...(values.version === undefined ? {} : { version: values.version }),
    ...(ports === undefined ? {} : { clientPorts: ports }),
    ...(values['tick-time'] === undefined ? {} : { tickTime: Number(values['tick-time']) }),
    ...folder('zookeeper'),
  };
}

const folder = (name: string): { directory?: string } =>
  values.directory === undefined ? {} : { directory: join(values.directory, name) };

async function up(): Promise<void> {
  const onProgress = (line: string): void => console.error(line);
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const starting = Promise.all([
    startEnsemble({ ...ensembleOptions(), onProgress }),
    values.postgres ? startPostgres({ ...folder('postgres'), onProgress }) : undefined,
    values.redis ? startRedis({ ...folder('redis'), appendOnly: true, onProgress }) : undefined,
  ]);
  const servers = await Promise.race([starting, interrupted.then(() => undefined)]);
  if (!servers) process.exit(130); // What has been started ends with this process.
  const [ensemble, postgres, redis] = servers;
  console.log(`zookeeper  ${ensemble.connectString}`);
  for (const { id, metricsUrl } of ensemble.servers) if (metricsUrl) console.log(`metrics ${id}  ${metricsUrl}`);
  if (postgres) console.log(`postgres   ${postgres.url}`);
  if (redis) console.log(`redis      ${redis.url}`);
  console.error('Ctrl-C ends them.');
  await interrupted;
  await Promise.all(servers.map((server) => server?.close()));
}

if (values.help) {
  process.stdout.write(usage);
} else {
  const onProgress = (line: string): void => console.error(line);
  const work = values.fetch ? fetchZooKeeper(values.version, onProgress) : up();
  await work.catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}
