import { lstatSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { electionName } from '../election/names.js';
import type { ConnectOptions, Logger } from '../index.js';
import type { RunningTelemetry } from '../telemetry/index.js';
import { Access } from './access.js';
import { createApp } from './app.js';
import { Connection } from './connection.js';
import { Sidecar, type SidecarLimits } from './sidecar.js';

export interface AgentOptions {
  readonly connect: ConnectOptions;
  readonly listen: { readonly host: string; readonly port: number } | { readonly socket: string };
  readonly id: string;
  readonly deadlineMs: number;
  readonly drainTimeoutMs: number;
  readonly limits: SidecarLimits;
  /** Elections that are observed although nobody here takes part. */
  readonly observe: readonly string[];
  /** What clients have to show; null: nothing. */
  readonly token: string | null;
  readonly allowedHosts: readonly string[];
  readonly telemetry: RunningTelemetry;
  readonly logger: Logger;
  readonly validateResponses?: boolean;
}

/** A running sidecar. */
export class Agent {
  readonly url: string;
  /** Rejects when the ensemble can never be reached as asked, as with wrong credentials. */
  readonly failed: Promise<never>;
  readonly #sidecar: Sidecar;
  readonly #server: Server;
  readonly #options: AgentOptions;

  private constructor(sidecar: Sidecar, server: Server, options: AgentOptions) {
    this.#sidecar = sidecar;
    this.#server = server;
    this.#options = options;
    this.url = urlOf(server, options.listen);
    this.failed = new Promise((_, reject) => {
      sidecar.connection.opened.catch((error) => {
        if (!sidecar.stopping) reject(error);
      });
    });
    this.failed.catch(() => {});
  }

  /** Serves at once, and connects to the ensemble meanwhile. @throws when the address is taken */
  static async start(options: AgentOptions): Promise<Agent> {
    const { listen, logger, id, deadlineMs, observe, limits, token, telemetry } = options;
    const sidecar = new Sidecar(
      { id, deadlineMs, observe: observe.map(electionName), limits, logger },
      (shared) => new Connection(options.connect, logger, (tenure) => shared.attached(tenure)),
    );
    const app = createApp({
      sidecar,
      access: new Access({ token, hosts: hosts(options) }),
      metrics: telemetry.metricsHandler,
      validateResponses: options.validateResponses ?? false,
    });
    const server = createServer({ connectionsCheckingInterval: 1_000, keepAliveTimeout: 30_000 }, app);
    // Whoever sends slowly on purpose holds a socket for a few seconds, and nothing else.
    server.headersTimeout = 5_000;
    server.requestTimeout = 10_000;
    server.maxConnections = limits.streams + 500;
    try {
      await listening(server, listen);
    } catch (error) {
      await Promise.all([sidecar.connection.close(), telemetry.shutdown()]);
      throw error;
    }
    // A connection that can't be accepted, as when the process may open no more files, is no reason to end all others.
    server.on('error', (error) => logger.error({ err: error }, 'a connection could not be accepted'));
    return new Agent(sidecar, server, options);
  }

  /** Has the clients finish, announces what has ended, and stops. */
  async close(): Promise<void> {
    const { candidacies, connection, streams, observatory, overview } = this.#sidecar;
    this.#sidecar.stopping = true;
    await this.#drain();
    const gone = [...candidacies.all()].map((candidacy) => {
      candidacy.abandon('shutdown');
      return candidacy.gone;
    });
    await Promise.all(gone);
    streams.close();
    overview.close();
    observatory.close();
    this.#server.close();
    await connection.close();
    this.#server.closeAllConnections();
    await this.#options.telemetry.shutdown();
  }

  /** Those who wait go at once; leaders are asked to stop, and given time for it. */
  async #drain(): Promise<void> {
    const { candidacies } = this.#sidecar;
    for (const candidacy of [...candidacies.all()]) {
      candidacy.finish();
    }
    const until = performance.now() + this.#options.drainTimeoutMs;
    while (performance.now() < until && [...candidacies.all()].some(({ working }) => working)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function hosts({ listen, token, allowedHosts }: AgentOptions): Set<string> | null {
  if ('socket' in listen) return null;
  // What a token protects may be reached by any name.
  if (token !== null) return null;
  return new Set(['localhost', '127.0.0.1', '[::1]', ...allowedHosts.map((host) => host.toLowerCase())]);
}

async function listening(server: Server, listen: AgentOptions['listen']): Promise<void> {
  if ('socket' in listen) {
    await removeStale(listen.socket);
    // For its owner alone, from the first moment on.
    const before = process.umask(0o177);
    const done = bound(server, { path: listen.socket });
    process.umask(before);
    await done;
  } else await bound(server, listen);
}

function bound(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** A socket that a dead process left behind; one that answers is somebody's, and so is whatever is no socket. */
async function removeStale(path: string): Promise<void> {
  // To connect to a file is refused as well.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const refused = await new Promise<boolean>((resolve) => {
    const probe = connectSocket(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
  if (refused) rmSync(path, { force: true });
}

function urlOf(server: Server, listen: AgentOptions['listen']): string {
  if ('socket' in listen) return `unix:${listen.socket}`;
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
