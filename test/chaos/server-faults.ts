import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { T } from '../../src/verify/fault.js';
import type { Outcome } from './members.js';
import { type Nemesis, onServer } from './nemesis.js';
import type { NetworkHost } from './network.js';

/** What is done to the ensemble. */
export const SERVER_FAULTS: Readonly<Record<string, Nemesis>> = {
  lossy_server: onServer(({ field, random }, _server, host) => {
    const percent = Math.round(random.between(10, 50));
    host.lose(percent);
    const ms = random.between(500, 2 * T(field));
    return { stalls: true, ms, detail: `${host.name} ${percent} %`, end: () => host.lose(0) };
  }),
  cut_server: onServer(({ field, random }, _server, host, others) => {
    isolate(host, others);
    return { ms: random.between(200, 3 * T(field)), detail: host.name, end: () => heal(host, others) };
  }),
  one_way_between_servers: onServer(({ field, random }, _server, host, others) => {
    const other = random.pick(others);
    host.block([other]);
    const detail = `${other.name} → ${host.name}`;
    return { stalls: true, ms: random.between(200, 2 * T(field)), detail, end: () => host.unblock([other]) };
  }),
  cut_off_with_worker: onServer(({ field, random, victim }, _server, host, others) => {
    if (victim === undefined) return undefined;
    isolate(host, others);
    isolate(victim.host, others);
    const end = () => {
      heal(host, others);
      heal(victim.host, others);
    };
    return {
      on: [victim],
      ms: random.between(T(field), 4 * T(field)),
      detail: `${host.name} with ${victim.name}`,
      end,
    };
  }),
  kill_server: onServer(({ field, random }, server) => {
    void server.kill();
    const end = async () => {
      await server.kill();
      await server.start();
    };
    return { ms: random.between(200, 2 * T(field)), detail: `s${server.id}`, end };
  }),
  freeze_server: onServer(({ field, random }, server) => {
    server.freeze();
    return { ms: random.between(200, 2 * T(field)), detail: `s${server.id}`, end: () => server.thaw() };
  }),
  change_leader: async ({ field, alone }) => {
    const server = alone ? await field.ensemble.leader() : undefined;
    if (server === undefined) return undefined;
    void server.kill().then(() => server.start());
    return { detail: `s${server.id}` };
  },
  /**
   * Takes a server out of the ensemble, half of the time the one that leads it, which forces an election; and puts it back. It runs on meanwhile,
   * without a vote.
   */
  reconfigure: async ({ field, random, free, busy }) => {
    const { servers } = field.ensemble;
    const chosen = servers[free ?? -1];
    if (chosen === undefined) return undefined;
    const leader = await field.ensemble.leader();
    const wanted = random.chance(0.5) ? leader : chosen;
    const server = wanted === undefined || busy.has(wanted.id - 1) ? chosen : wanted;
    const detail = `s${server.id}${server === leader ? ', the leader' : ''}: ${told(await field.members.remove(server))}`;
    const ms = random.between(500, 2 * T(field));
    // Also where nobody answered: it may be done all the same.
    return { server: server.id - 1, ms, detail, end: () => field.members.restore(server) };
  },
  /** Alone, or it would restart what another fault has stopped. */
  rolling_restart: ({ field, alone }) => {
    if (!alone) return undefined;
    const roll = async (): Promise<void> => {
      for (const server of field.ensemble.servers) {
        if (!server.running || server.frozen) continue;
        await server.restart(20_000).catch(() => {});
      }
    };
    const done = roll();
    return { stalls: true, ms: 0, end: () => done };
  },
  stall_disk: ({ field, random, alone }) => {
    const { disk } = field;
    if (disk === undefined || !alone) return undefined;
    execFileSync('fsfreeze', ['-f', disk]);
    const end = () => void execFileSync('fsfreeze', ['-u', disk]);
    return { server: 0, stalls: true, ms: random.between(200, 1.5 * T(field)), detail: 's1', end };
  },
  fill_disk: ({ field, random, alone }) => {
    const { disk } = field;
    if (disk === undefined || !alone) return undefined;
    const ballast = join(disk, 'ballast');
    try {
      execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M'], { stdio: 'ignore' });
    } catch {
      // Full: that is what was wanted.
    }
    const [server] = field.ensemble.servers;
    const end = async () => {
      rmSync(ballast, { force: true });
      // A server that can't write its log ends itself.
      if (server !== undefined && !server.running) await server.start();
    };
    return { server: 0, stalls: true, ms: random.between(500, 2 * T(field)), detail: 's1', end };
  },
};

function told(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'changed':
      return `out, configuration ${outcome.version.toString(16)}`;
    case 'refused':
      return `refused, code ${outcome.code}`;
    case 'unanswered':
      return 'unanswered';
  }
}

function isolate(host: NetworkHost, others: readonly NetworkHost[]): void {
  host.block(others);
  for (const other of others) other.block([host]);
}

function heal(host: NetworkHost, others: readonly NetworkHost[]): void {
  host.unblock(others);
  for (const other of others) other.unblock([host]);
}
