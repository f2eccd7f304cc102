import { createHash } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Distribution } from './distribution.js';

export interface JvmOptions {
  /** Whether the server waits for the disk before it answers a write. */
  readonly fsync: boolean;
  /** More options, which win over ours. */
  readonly javaOptions: readonly string[];
}

/** The arguments that start a server with the given configuration: small heap, quick start, logs to standard output. */
export function javaArguments(
  distribution: Distribution,
  { fsync, javaOptions }: JvmOptions,
  configFile: string,
): string[] {
  const archive = archiveFile(distribution);
  return [
    '-Xmx256m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-XX:-UsePerfData',
    '-XX:+ExitOnOutOfMemoryError',
    ...(existsSync(archive)
      ? ['-Xshare:auto', `-XX:SharedArchiveFile=${archive}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off']
      : []),
    '-Djava.net.preferIPv4Stack=true',
    '-Dorg.slf4j.simpleLogger.logFile=System.out',
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
    '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
    '-Dorg.slf4j.simpleLogger.showShortLogName=true',
    ...(fsync ? [] : ['-Dzookeeper.forceSync=no']),
    ...javaOptions,
    '-cp',
    distribution.classpath,
    'org.apache.zookeeper.server.quorum.QuorumPeerMain',
    configFile,
  ];
}

/**
 * The classes as the virtual machine holds them in memory, saved once and mapped at each start (AppCDS). One for each Java:
 * another's is ignored by the virtual machine, which costs time only.
 */
export function archiveFile(distribution: Distribution): string {
  const java = realpathSync(distribution.java);
  const digest = createHash('sha256')
    .update(`${java} ${statSync(java).mtimeMs}`)
    .digest('hex')
    .slice(0, 8);
  return join(distribution.directory, `classes-${digest}.jsa`);
}
