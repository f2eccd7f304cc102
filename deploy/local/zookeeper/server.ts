import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch, type ManagedProcess, ServerFailedError } from '../process.js';
import { waitFor } from '../wait.js';
import {
  configFile,
  dataDirectory,
  namesItself,
  prepareData,
  type ServerPlace,
  type ServerSettings,
  serverLine,
  writeConfiguration,
} from './config.js';
import type { Distribution } from './distribution.js';
import { fourLetterWord, type Mode, mode, type Word } from './four-letter-word.js';
import { type JvmOptions, javaArguments } from './jvm.js';

export interface ServerBlueprint {
  readonly distribution: Distribution;
  readonly place: ServerPlace;
  readonly all: readonly ServerPlace[];
  readonly settings: ServerSettings;
  readonly jvm: JvmOptions;
  readonly commandPrefix: readonly string[];
}

/** One ZooKeeper server, running or not. Its addresses and its folder stay the same from one start to the next. */
export class ZooKeeperServer {
  readonly #blueprint: ServerBlueprint;
  #process: ManagedProcess | undefined;
  #frozen = false;

  constructor(blueprint: ServerBlueprint) {
    this.#blueprint = blueprint;
  }

  get id(): number {
    return this.#blueprint.place.id;
  }
  get host(): string {
    return this.#blueprint.place.host;
  }
  get clientPort(): number {
    return this.#blueprint.place.clientPort;
  }
  get quorumPort(): number {
    return this.#blueprint.place.quorumPort;
  }
  get electionPort(): number {
    return this.#blueprint.place.electionPort;
  }
  /** `host:port` for clients. */
  get address(): string {
    return `${this.host}:${this.clientPort}`;
  }
  /** `server.1=host:2888:…`: how the configuration of an ensemble names it, and a request to add it. */
  get line(): string {
    return serverLine(this.#blueprint.place);
  }
  /** Where Prometheus scrapes it; undefined without the exporter. */
  get metricsUrl(): string | undefined {
    const { metricsPort } = this.#blueprint.place;
    return metricsPort === undefined ? undefined : `http://${this.host}:${metricsPort}/metrics`;
  }
  get logFile(): string {
    return join(this.#blueprint.place.directory, 'server.log');
  }
  get dataDirectory(): string {
    return dataDirectory(this.#blueprint.place);
  }
  /** Undefined while it doesn't run. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }
  get running(): boolean {
    return this.#process?.running ?? false;
  }
  get frozen(): boolean {
    return this.#frozen && this.running;
  }

  /** Starts the process; resolves when it is there, before it serves. See `waitUntilServing`. */
  async start(): Promise<void> {
    if (this.running) throw new Error(`ZooKeeper server ${this.id} runs already`);
    const { distribution, place, all, settings, jvm, commandPrefix } = this.#blueprint;
    if (!this.#process || !namesItself(place)) writeConfiguration(place, all, settings);
    prepareData(place);
    this.#frozen = false;
    this.#process = await launch({
      name: `ZooKeeper server ${this.id}`,
      command: distribution.java,
      args: javaArguments(distribution, jvm, configFile(place)),
      prefix: commandPrefix,
      logFile: this.logFile,
      cwd: place.directory,
    });
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** SIGKILL; resolves once the process is gone. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Stops it, if it runs, starts it again and waits until it serves. */
  async restart(timeoutMs?: number): Promise<void> {
    await this.stop();
    await this.start();
    await this.waitUntilServing(timeoutMs);
  }

  /** SIGSTOP: it answers nothing, its connections stay open, and the system still accepts new ones for it. */
  freeze(): void {
    this.#process?.freeze();
    this.#frozen = true;
  }

  /** SIGCONT. */
  thaw(): void {
    this.#process?.thaw();
    this.#frozen = false;
  }

  /** Empties its data folder, as a lost disk would. Only while it doesn't run. */
  wipe(): void {
    if (this.running) throw new Error(`ZooKeeper server ${this.id} runs: stop it before its data is wiped`);
    rmSync(this.dataDirectory, { recursive: true, force: true });
  }

  /** What it says it is, by `srvr`. A frozen one is `down` at once. */
  async mode(): Promise<Mode> {
    return this.running && !this.#frozen ? mode(this.host, this.clientPort) : 'down';
  }

  async isLeader(): Promise<boolean> {
    return (await this.mode()) === 'leader';
  }

  /** Asks a four letter word: srvr, mntr, ruok, stat, cons, wchs, wchp, conf or dump. */
  ask(word: Word, timeoutMs?: number): Promise<string> {
    return fourLetterWord(this.host, this.clientPort, word, timeoutMs);
  }

  /** Waits until it serves clients, as part of a quorum or alone. */
  async waitUntilServing(timeoutMs = 60_000): Promise<void> {
    await waitFor(
      async () => {
        if (!this.running)
          throw new ServerFailedError(`ZooKeeper server ${this.id} ended (${this.#process?.exit})`, this.logFile);
        const now = await this.mode();
        return now !== 'down' && now !== 'looking';
      },
      { what: `ZooKeeper server ${this.id} to serve`, timeoutMs },
    ).catch((error: Error) => {
      if (error instanceof ServerFailedError) throw error;
      throw new ServerFailedError(error.message, this.logFile);
    });
  }
}
