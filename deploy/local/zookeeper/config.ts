import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One server's place: its number, its folder, its addresses. */
export interface ServerPlace {
  readonly id: number;
  readonly directory: string;
  readonly host: string;
  readonly clientPort: number;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly metricsPort: number | undefined;
}

export interface ServerSettings {
  readonly tickTime: number;
  readonly initLimit: number;
  readonly syncLimit: number;
  /** Lines for the end of the configuration file. */
  readonly extraConfig: readonly string[];
}

export const dataDirectory = (place: ServerPlace): string => join(place.directory, 'data');
export const configFile = (place: ServerPlace): string => join(place.directory, 'zoo.cfg');

const serverLine = (place: ServerPlace): string =>
  `server.${place.id}=${place.host}:${place.quorumPort}:${place.electionPort}:participant;${place.host}:${place.clientPort}`;

function lines(place: ServerPlace, all: readonly ServerPlace[], settings: ServerSettings): string[] {
  return [
    `dataDir=${dataDirectory(place)}`,
    `tickTime=${settings.tickTime}`,
    `initLimit=${settings.initLimit}`,
    `syncLimit=${settings.syncLimit}`,
    'maxClientCnxns=0',
    '4lw.commands.whitelist=srvr,mntr,ruok,stat,cons,wchs,wchp,conf,dump',
    'admin.enableServer=false',
    ...(place.metricsPort === undefined
      ? []
      : [
          'metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider',
          `metricsProvider.httpHost=${place.host}`,
          `metricsProvider.httpPort=${place.metricsPort}`,
        ]),
    // Alone, a server is told its own address; among others, the dynamic lines say it, so that reconfiguration works.
    ...(all.length === 1
      ? [`clientPortAddress=${place.host}`, `clientPort=${place.clientPort}`]
      : ['reconfigEnabled=true', 'standaloneEnabled=false', ...all.map(serverLine)]),
    ...settings.extraConfig,
  ];
}

/**
 * Writes what the server reads, over what an earlier ensemble left in its folder. To be done once: from its first start on,
 * ZooKeeper keeps the server lines in a file of its own and changes them when the ensemble is reconfigured.
 */
export function writeConfiguration(place: ServerPlace, all: readonly ServerPlace[], settings: ServerSettings): void {
  mkdirSync(place.directory, { recursive: true });
  for (const name of readdirSync(place.directory)) {
    if (name.startsWith('zoo.cfg')) rmSync(join(place.directory, name));
  }
  writeFileSync(configFile(place), `${lines(place, all, settings).join('\n')}\n`);
}

/** Makes the data folder, which may have been wiped, and says in it who the server is. */
export function prepareData(place: ServerPlace): void {
  mkdirSync(dataDirectory(place), { recursive: true });
  writeFileSync(join(dataDirectory(place), 'myid'), `${place.id}\n`);
}
