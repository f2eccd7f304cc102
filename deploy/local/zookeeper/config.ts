import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** How the ensemble's configuration names it. */
export const serverLine = (place: ServerPlace): string =>
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
 * ZooKeeper keeps the server lines in a file of its own and changes them when the ensemble is reconfigured. And once more
 * where it has changed them to its own exclusion: it starts with the old ones, and the others tell it the new.
 */
export function writeConfiguration(place: ServerPlace, all: readonly ServerPlace[], settings: ServerSettings): void {
  mkdirSync(place.directory, { recursive: true });
  for (const name of readdirSync(place.directory)) {
    if (name.startsWith('zoo.cfg')) rmSync(join(place.directory, name));
  }
  writeFileSync(configFile(place), `${lines(place, all, settings).join('\n')}\n`);
}

/**
 * Whether the server would find itself in what it reads. One that was removed from the ensemble while it ran has written a
 * list without itself, and refuses to start with it.
 */
export function namesItself(place: ServerPlace): boolean {
  const text = readFileSync(configFile(place), 'utf8');
  const dynamic = /^dynamicConfigFile=(.+)$/m.exec(text)?.[1]?.trim();
  return dynamic === undefined || (existsSync(dynamic) && servers(readFileSync(dynamic, 'utf8')).includes(place.id));
}

const servers = (text: string): number[] => [...text.matchAll(/^server\.(\d+)=/gm)].map(([, id]) => Number(id));

/** Makes the data folder, which may have been wiped, and says in it who the server is. */
export function prepareData(place: ServerPlace): void {
  mkdirSync(dataDirectory(place), { recursive: true });
  writeFileSync(join(dataDirectory(place), 'myid'), `${place.id}\n`);
}
