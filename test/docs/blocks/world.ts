import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { compileSource } from '../../../bench/compiled.js';
import {
  type Ensemble,
  leasePort,
  type PortLease,
  type Postgres,
  type Redis,
  startEnsemble,
  startPostgres,
  startRedis,
} from '../../../deploy/local/index.js';
import { SidecarProcess } from '../../integration/agent/sidecar-process.js';
import { project } from '../markdown.js';

/** Where one block runs: a folder and a chroot of its own, and what stands for the hosts and paths that the pages name. */
export interface Place {
  readonly folder: string;
  /** With the chroot. */
  readonly servers: string;
  readonly env: NodeJS.ProcessEnv;
  /** A block as it is run here. */
  translate(code: string): string;
}

/** What a place has besides. */
export interface More {
  /** Is `postgres://ops@db/books` there, and what libpq finds in the environment. */
  readonly database?: true;
  readonly redis?: true;
  /** The address of one, which is `http://127.0.0.1:2182` there. */
  readonly sidecar?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** What else stands for something. */
  readonly names?: readonly (readonly [RegExp, string])[];
  readonly files?: Readonly<Record<string, string>>;
}

/** The servers that all blocks share. Each is started when the first one asks for it. */
export class World implements AsyncDisposable {
  /** Inside of the project, so that its packages are found; ignored by git. */
  readonly folder: string;
  readonly #ensemble: Promise<Ensemble>;
  #postgres: Promise<Postgres> | undefined;
  #redis: Promise<Redis> | undefined;
  #package: string | undefined;
  readonly #ports: PortLease[] = [];
  readonly #owned: AsyncDisposable[] = [];
  #databases: Promise<unknown> = Promise.resolve();
  #places = 0;

  constructor() {
    mkdirSync(join(project, '.cache'), { recursive: true });
    this.folder = mkdtempSync(join(project, '.cache', 'blocks-'));
    this.#ensemble = startEnsemble({ size: 1, fsync: false });
  }

  async servers(): Promise<string> {
    return (await this.#ensemble).connectString;
  }

  async redis(): Promise<Redis> {
    this.#redis ??= startRedis();
    return this.#redis;
  }

  async port(): Promise<number> {
    const lease = await leasePort();
    this.#ports.push(lease);
    return lease.port;
  }

  /** It ends with this world. */
  owns(server: AsyncDisposable): void {
    this.#owned.push(server);
  }

  /** The package as it is installed, and its command where the environment's PATH leads. */
  package(): string {
    if (this.#package !== undefined) return this.#package;
    const dist = compileSource();
    const bin = join(this.folder, 'bin');
    mkdirSync(bin);
    const command = `#!/bin/sh\nexec ${process.execPath} ${join(dist, 'cli/main.js')} "$@"\n`;
    writeFileSync(join(bin, 'tenure'), command, { mode: 0o755 });
    this.#package = dirname(dist);
    return this.#package;
  }

  /** One of its own. */
  async sidecar(args: readonly string[] = []): Promise<SidecarProcess> {
    return (await SidecarProcess.start(await this.servers(), { args })).ready();
  }

  /** An empty database of its own. */
  async database(): Promise<pg.ClientConfig & { readonly url: string }> {
    this.#postgres ??= startPostgres({ settings: { max_connections: '200' } });
    const { config } = await this.#postgres;
    const database = `books_${++this.#places}`;
    // One at a time: two copies of the same template get in each other's way.
    const made = this.#databases.then(async () => {
      const client = new pg.Client(config);
      await client.connect();
      await client.query(`CREATE DATABASE ${database}`);
      await client.end();
    });
    this.#databases = made.catch(() => undefined);
    await made;
    const { user, password, host, port } = config;
    return { ...config, database, url: `postgres://${user}:${password}@${host}:${port}/${database}` };
  }

  async place(more: More = {}): Promise<Place> {
    const name = `place-${++this.#places}`;
    const folder = join(this.folder, name);
    // The package's own package.json must not be the nearest one: it would answer for the name `tenure`.
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    symlinkSync(this.package(), join(folder, 'node_modules/tenure'));
    const servers = `${await this.servers()}/${name}`;
    const database = more.database && (await this.database());
    const redis = more.redis && (await this.redis());
    const clean = Object.entries(process.env).filter(
      ([name]) =>
        !/^(TENURE|ZOOKEEPER|OTEL|PG)_?|^(NO_COLOR|FORCE_COLOR|DATABASE_URL|VITEST.*|NODE_OPTIONS)$/.test(name),
    );
    const env: NodeJS.ProcessEnv = {
      ...Object.fromEntries(clean),
      HOME: folder,
      PATH: `${join(this.folder, 'bin')}:${process.env['PATH']}`,
      PLACE: folder,
      ZK_SERVERS: servers,
      TENURE_SERVERS: servers,
      TENURE_AGENT_LISTEN: '127.0.0.1:0',
      ...(more.sidecar === undefined ? {} : { TENURE_URL: more.sidecar, TENURE_AGENT_URL: more.sidecar }),
      ...(database && {
        DATABASE_URL: `${database.url}?sslmode=disable`,
        PGHOST: database.host,
        PGPORT: String(database.port),
        PGUSER: String(database.user),
        PGPASSWORD: String(database.password),
        PGDATABASE: String(database.database),
      }),
    };
    if (redis) env['REDIS_PORT'] = String(redis.port);
    Object.assign(env, more.env);
    lay(folder, more.files ?? {});
    /** What the pages call the machines, and what stands here for them. */
    const names: (readonly [RegExp, string])[] = [
      ...(more.names ?? []),
      [/\bzk1:2181(,zk2:2181,zk3:2181)?/g, servers],
      [/postgres:\/\/ops@db\/books/g, database ? database.url : 'postgres://nowhere/books'],
      [/new Redis\(\)/g, redis ? `new Redis(${redis.port})` : 'new Redis()'],
      [/http:\/\/127\.0\.0\.1:2182/g, more.sidecar ?? 'http://127.0.0.1:2182'],
      [/0\.0\.0\.0:2182/g, '0.0.0.0:0'],
      [/(?<=['" ])\/(usr\/local\/bin|run\/tenure|run\/worker|etc\/tenure|srv\/reports)\b/g, `${folder}/$1`],
    ];
    const translate = (code: string) => names.reduce((text, [name, real]) => text.replaceAll(name, real), code);
    return { folder, servers, env, translate };
  }

  async close(): Promise<void> {
    const [ensemble, postgres, redis] = await Promise.allSettled([this.#ensemble, this.#postgres, this.#redis]);
    for (const server of [ensemble, postgres, redis]) {
      if (server.status === 'fulfilled') await server.value?.close();
    }
    for (const server of this.#owned) await server[Symbol.asyncDispose]();
    for (const port of this.#ports) port.release();
    rmSync(this.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Writes files below a folder: programs where they begin with `#!`. */
export function lay(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
}
