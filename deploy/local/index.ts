/** Real servers on free loopback ports, for the demo, the tests and the benchmarks. They never outlive their process. */

export { startAlertmanager } from './alertmanager.js';
export { MissingToolError } from './missing-tool.js';
export { leaseGivenPort, leasePort, type PortLease } from './ports.js';
export { Postgres, type PostgresConfig, type PostgresOptions, startPostgres } from './postgres.js';
export { type LaunchOptions, launch, ManagedProcess, ServerFailedError } from './process.js';
export { startPrometheus } from './prometheus.js';
export { onExit } from './reaper.js';
export { Redis, type RedisOptions, startRedis } from './redis.js';
export { type WaitOptions, WaitTimeoutError, waitFor } from './wait.js';
export { WebServer, type WebServerOptions } from './web-server.js';
export { Ensemble, type EnsembleOptions, fetchZooKeeper, startEnsemble } from './zookeeper/ensemble.js';
export { fourLetterWord, type Mode, type Word } from './zookeeper/four-letter-word.js';
export { ZooKeeperServer } from './zookeeper/server.js';
