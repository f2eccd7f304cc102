import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspace } from '../directory.js';
import { lock } from '../lock.js';
import { leasePort } from '../ports.js';
import { waitFor } from '../wait.js';
import type { ServerPlace } from './config.js';
import type { Distribution, Progress } from './distribution.js';
import { archiveFile } from './jvm.js';
import { ZooKeeperServer } from './server.js';

/**
 * Makes the archive of classes that halves a server's start, by running an ensemble of three once and having each write
 * down what it loaded. A Java that can't is remembered, and does without.
 */
export async function ensureArchive(distribution: Distribution, onProgress: Progress): Promise<void> {
  const archive = archiveFile(distribution);
  const without = `${archive}.none`;
  const settled = (): boolean => existsSync(archive) || existsSync(without);
  if (settled()) return;
  const held = await lock(`${archive}.lock`);
  try {
    if (settled()) return;
    onProgress('preparing a quicker start, once: archiving the classes');
    await record(distribution, archive).catch((error: Error) => {
      writeFileSync(without, `${error.message}\n`);
      onProgress('this Java makes no archive: servers start without one');
    });
  } finally {
    held.release();
  }
}

async function record(distribution: Distribution, archive: string): Promise<void> {
  const home = workspace('archive');
  const leases = await Promise.all(Array.from({ length: 12 }, () => leasePort()));
  const port = (index: number): number => leases[index]?.port ?? 0;
  const all = [0, 1, 2].map(
    (index): ServerPlace => ({
      id: index + 1,
      directory: join(home.path, `server-${index + 1}`),
      host: '127.0.0.1',
      clientPort: port(index),
      quorumPort: port(3 + index),
      electionPort: port(6 + index),
      metricsPort: distribution.hasPrometheus ? port(9 + index) : undefined,
    }),
  );
  const draft = (place: ServerPlace): string => `${archive}.${place.id}.draft`;
  const servers = all.map(
    (place) =>
      new ZooKeeperServer({
        distribution,
        place,
        all,
        settings: { tickTime: 2_000, initLimit: 10, syncLimit: 5, extraConfig: [] },
        jvm: { fsync: false, javaOptions: [`-XX:ArchiveClassesAtExit=${draft(place)}`] },
        commandPrefix: [],
      }),
  );
  try {
    await Promise.all(servers.map((server) => server.start()));
    await Promise.all(servers.map((server) => server.waitUntilServing()));
    const leads = await waitFor(() => firstLeader(servers), { what: 'a leader', timeoutMs: 10_000 });
    // Of the two roles the leader's loads the most; its followers share nearly all of it.
    await leads.stop();
    renameSync(draft(all[leads.id - 1] as ServerPlace), archive);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    for (const lease of leases) lease.release();
    for (const place of all) rmSync(draft(place), { force: true });
    home.dispose();
  }
}

async function firstLeader(servers: readonly ZooKeeperServer[]): Promise<ZooKeeperServer | undefined> {
  const modes = await Promise.all(servers.map((server) => server.mode()));
  return servers[modes.indexOf('leader')];
}
