import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../cache.js';
import { lock } from '../lock.js';
import { MissingToolError } from '../missing-tool.js';
import { findCommand } from '../process.js';
import { copyDependencies } from '../toolchains/maven.js';

const pomFile = fileURLToPath(new URL('./pom.xml', import.meta.url));

/** A ZooKeeper server that can be started: a Java and the jars. */
export interface Distribution {
  readonly version: string;
  readonly java: string;
  readonly classpath: string;
  /** Whether the exporter for Prometheus is among the jars. */
  readonly hasPrometheus: boolean;
  /** Where what is derived from these jars can be kept. */
  readonly directory: string;
}

export type Progress = (line: string) => void;

/** The version asked for: `version`, else `TENURE_ZOOKEEPER_VERSION`, else the pom's own. */
export function zookeeperVersion(version?: string): string {
  const pinned = /<zookeeper\.version>([^<]+)</.exec(readFileSync(pomFile, 'utf8'))?.[1];
  const wanted = version || process.env['TENURE_ZOOKEEPER_VERSION'] || pinned || '';
  if (!/^[\w.-]+$/.test(wanted)) throw new Error(`${JSON.stringify(wanted)} is not a version of ZooKeeper`);
  return wanted;
}

/** The jars of a ZooKeeper version, fetched from Maven Central once and kept in the cache. */
export async function resolveDistribution(wanted?: string, onProgress: Progress = () => {}): Promise<Distribution> {
  const version = zookeeperVersion(wanted);
  const java = findJava();
  // The pom's own digest is part of the name: another pom, other jars.
  const digest = createHash('sha256').update(readFileSync(pomFile)).digest('hex').slice(0, 8);
  const directory = join(cacheDirectory(), `zookeeper-${version}-${digest}`);
  const library = join(directory, 'lib');
  if (!existsSync(library)) {
    if (!findCommand('mvn'))
      return debianDistribution(java, wanted || process.env['TENURE_ZOOKEEPER_VERSION'] || undefined, onProgress);
    const held = await lock(`${directory}.lock`);
    try {
      if (!existsSync(library)) await fetchJars(version, directory, library, onProgress);
    } finally {
      held.release();
    }
  }
  const jars = readdirSync(library).filter((name) => name.endsWith('.jar'));
  return {
    version,
    java,
    classpath: jars
      .sort()
      .map((name) => join(library, name))
      .join(':'),
    hasPrometheus: jars.some((name) => name.startsWith('zookeeper-prometheus-metrics')),
    directory,
  };
}

function findJava(): string {
  const home = process.env['JAVA_HOME'];
  const java = findCommand('java', home ? [join(home, 'bin')] : []);
  if (!java)
    throw new MissingToolError(
      'no java found: install a Java runtime, 11 or later (Debian: apt-get install default-jre-headless maven)',
    );
  return java;
}

async function fetchJars(version: string, directory: string, library: string, onProgress: Progress): Promise<void> {
  onProgress(`fetching ZooKeeper ${version} from Maven Central into ${directory}`);
  const draft = join(directory, `lib.${process.pid}.draft`);
  mkdirSync(draft, { recursive: true });
  try {
    await copyDependencies(pomFile, draft, [`-Dzookeeper.version=${version}`]);
    renameSync(draft, library);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    const { message } = error as Error;
    const reason = /\[ERROR\] (.*)/.exec(message)?.[1] ?? message;
    throw new Error(`Maven could not fetch ZooKeeper ${version}: ${reason}`, { cause: error });
  }
}

/** What Debian's package `zookeeper` brings: enough for an ensemble, without the exporter for Prometheus. */
function debianDistribution(java: string, wanted: string | undefined, onProgress: Progress): Distribution {
  const folder = '/usr/share/java';
  const jar = join(folder, 'zookeeper.jar');
  if (!existsSync(jar)) {
    throw new MissingToolError(
      "no mvn found: install Maven, which fetches ZooKeeper (Debian: apt-get install maven), or Debian's package zookeeper",
    );
  }
  const version = /-(\d[\w.]*)\.jar$/.exec(realpathSync(jar))?.[1] ?? 'debian';
  if (wanted !== undefined && wanted !== version) {
    throw new MissingToolError(
      `no mvn found, and Debian's ZooKeeper is ${version}: install Maven to get ${wanted} (Debian: apt-get install maven)`,
    );
  }
  onProgress(`no mvn found: using Debian's ZooKeeper ${version}, which lacks zookeeper-prometheus-metrics`);
  const names = ['zookeeper', 'zookeeper-jute', 'audience-annotations', 'commons-cli', 'commons-io', 'jctools-core'];
  names.push('metrics-core', 'netty-all', 'slf4j-api', 'slf4j-simple', 'snappy-java');
  const jars = names.map((name) => join(folder, `${name}.jar`)).filter((path) => existsSync(path));
  const directory = join(cacheDirectory(), `zookeeper-debian-${version}`);
  mkdirSync(directory, { recursive: true });
  return { version, java, classpath: jars.join(':'), hasPrometheus: false, directory };
}
