import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverStatus } from '../../zookeeper/server-status.js';
import { EXIT } from '../exit-codes.js';
import { findExecutable } from '../run/executable.js';
import { CommandFailure, UsageError } from '../usage-error.js';

const SERVERS = [1, 2, 3] as const;
const HOST = '127.0.0.1';
const START_MS = 60_000;

/** Ends the server when we are gone, however we went: our end of its input is closed then. */
const GUARDED = '"$@" >>server.log 2>&1 </dev/null & echo $!; read -r _; kill -9 $!';

interface Place {
  readonly id: number;
  readonly directory: string;
  readonly client: number;
  readonly quorum: number;
  readonly election: number;
}

/** Three servers of a ZooKeeper that is installed here, to be killed. */
export class OwnEnsemble {
  readonly #command: readonly string[];
  readonly #directory: string;
  readonly #places: readonly Place[];
  readonly #running = new Map<number, { guard: ChildProcess; pid: number }>();

  private constructor(command: readonly string[], directory: string, places: readonly Place[]) {
    this.#command = command;
    this.#directory = directory;
    this.#places = places;
  }

  /** @throws {UsageError} where there is no ZooKeeper or no Java; {@link CommandFailure} when it doesn't come up */
  static async start(home: string, tickMs: number, signal: AbortSignal): Promise<OwnEnsemble> {
    const classpath = checkHome(home);
    const directory = await mkdtemp(join(tmpdir(), 'tenure-calibrate-'));
    const ports = await freePorts(3 * SERVERS.length);
    const places = SERVERS.map((id, index) => {
      const [client = 0, quorum = 0, election = 0] = ports.slice(3 * index, 3 * index + 3);
      return { id, directory: join(directory, `server-${id}`), client, quorum, election };
    });
    const command = [findJava(), '-Xmx256m', '-Djava.net.preferIPv4Stack=true', '-cp', classpath];
    command.push('org.apache.zookeeper.server.quorum.QuorumPeerMain', 'zoo.cfg');
    const ensemble = new OwnEnsemble(command, directory, places);
    try {
      for (const place of places) await prepare(place, places, tickMs);
      await Promise.all(places.map((place) => ensemble.#run(place)));
      for (const place of places) await ensemble.#untilServing(place, signal);
      return ensemble;
    } catch (error) {
      await ensemble.close();
      throw error;
    }
  }

  get connectString(): string {
    return this.#places.map(({ client }) => `${HOST}:${client}`).join(',');
  }

  /** Kills the server that leads, or one that follows, and starts it again. Resolves when it serves. */
  async restart(mode: 'leader' | 'follower', signal: AbortSignal): Promise<void> {
    for (const place of this.#places) {
      if ((await status(place)) !== mode) continue;
      await this.#kill(place);
      await this.#run(place);
      await this.#untilServing(place, signal);
      return;
    }
    throw new CommandFailure(EXIT.failure, 'TEST_ENSEMBLE_FAILED', `no ${mode} among the servers of the test ensemble`);
  }

  async close(): Promise<void> {
    await Promise.all(this.#places.map((place) => this.#kill(place)));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #run(place: Place): Promise<void> {
    const guard = spawn('sh', ['-c', GUARDED, 'sh', ...this.#command], {
      cwd: place.directory,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Gone together with us: nothing to tell.
    guard.stdin.on('error', () => {});
    const [first] = (await once(guard.stdout, 'data')) as [Buffer];
    this.#running.set(place.id, { guard, pid: Number(first.toString()) });
  }

  async #kill({ id }: Place): Promise<void> {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    const gone = once(running.guard, 'exit');
    running.guard.stdin?.end();
    await gone;
  }

  #lives({ id }: Place): boolean {
    try {
      return process.kill(this.#running.get(id)?.pid ?? 0, 0);
    } catch {
      return false;
    }
  }

  async #untilServing(place: Place, signal: AbortSignal): Promise<void> {
    const until = performance.now() + START_MS;
    while (performance.now() < until) {
      const mode = await status(place);
      if (mode === 'leader' || mode === 'follower') return;
      if (!this.#lives(place)) break;
      await sleep(100, undefined, { signal });
    }
    const log = await readFile(join(place.directory, 'server.log'), 'utf8').catch(() => '');
    const last = log.trimEnd().split('\n').slice(-3).join(' | ');
    const message = `the test ensemble did not come up; the end of its log: ${last}`;
    throw new CommandFailure(EXIT.failure, 'TEST_ENSEMBLE_FAILED', message);
  }
}

async function status({ client }: Place): Promise<string> {
  return (await serverStatus({ host: HOST, port: client }, 1_000)).mode;
}

async function prepare(place: Place, places: readonly Place[], tickMs: number): Promise<void> {
  const data = join(place.directory, 'data');
  await mkdir(data, { recursive: true });
  await writeFile(join(data, 'myid'), `${place.id}\n`);
  const lines = [
    `dataDir=${data}`,
    `tickTime=${tickMs}`,
    'initLimit=10',
    'syncLimit=5',
    '4lw.commands.whitelist=srvr,mntr,conf',
    'admin.enableServer=false',
    'standaloneEnabled=false',
    ...places.map(
      ({ id, quorum, election, client }) => `server.${id}=${HOST}:${quorum}:${election}:participant;${HOST}:${client}`,
    ),
  ];
  await writeFile(join(place.directory, 'zoo.cfg'), `${lines.join('\n')}\n`);
}

/** The jars of a distribution as it is unpacked. */
function checkHome(home: string): string {
  const folders = [resolve(home, 'lib'), resolve(home)];
  const isServer = (name: string) => /^zookeeper-\d.*\.jar$/.test(name);
  if (folders.some((folder) => existsSync(folder) && readdirSync(folder).some(isServer))) {
    return folders.map((folder) => join(folder, '*')).join(delimiter);
  }
  throw new UsageError(
    `--zookeeper-home ${JSON.stringify(home)} holds no lib/zookeeper-….jar`,
    'give the folder of an unpacked ZooKeeper: the one with bin/, conf/ and lib/ in it',
  );
}

function findJava(): string {
  const home = process.env['JAVA_HOME'];
  const folders = [...(home === undefined ? [] : [join(home, 'bin')]), process.env['PATH'] ?? ''];
  try {
    return findExecutable('java', folders.join(delimiter));
  } catch {
    throw new UsageError(
      '--inject starts ZooKeeper servers, which takes Java, and there is none',
      'install one, or set JAVA_HOME',
    );
  }
}

/** Free a moment ago: all are held until the last one is known. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, HOST);
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
