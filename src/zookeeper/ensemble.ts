import type { Member } from './membership.js';
import { type ServerMode, type ServerStatus, serverStatus } from './server-status.js';
import { formatServer } from './servers.js';

/** One server as the probe found it. */
export interface ServerHealth extends ServerStatus {
  /** `host:port` where it listens for clients. */
  readonly server: string;
  /** Whether it votes: an observer does not. */
  readonly voter: boolean;
  /** It serves, and follows the leader that counts or is that leader. */
  readonly healthy: boolean;
  /** Transactions of the leader's epoch that it hasn't applied; null where that can't be told. */
  readonly zxidLag: number | null;
}

/** The ensemble as seen from here at one moment. */
export interface EnsembleHealth {
  /** All that are known: of the connect string and of the ensemble's own configuration. */
  readonly servers: readonly ServerHealth[];
  /** How many of them vote. */
  readonly voters: number;
  /** How many of those are healthy. */
  readonly healthyVoters: number;
  /**
   * A leader answers, and its followers that are in step, as far as they confirm it themselves, are a majority together
   * with it. Not from `ruok`, which a server answers without a quorum; and not from a leader's word alone, for one that
   * is cut off still calls itself one until its syncLimit is over. Writes are what proves a quorum: see renewals.
   */
  readonly quorumOk: boolean;
  /** `host:port` of the leader that counts, or of a standalone server. */
  readonly leader: string | null;
  /** What an operator should know or mend, each a sentence. */
  readonly findings: readonly string[];
}

/** Asks each server once, all at the same time. Never rejects. */
export async function probeServers(members: readonly Member[], timeoutMs: number): Promise<Probed[]> {
  return Promise.all(
    members.map(async (member) => ({ member, status: await serverStatus(member.address, timeoutMs) })),
  );
}

/** A server and its answer. */
export interface Probed {
  readonly member: Member;
  readonly status: ServerStatus;
}

/** The pure part: what the answers mean together. */
export function judge(found: readonly Probed[], before: readonly string[] = []): EnsembleHealth {
  const voters = found.filter(({ member }) => member.voter);
  const leader = leaderAmong(voters.map(({ status }) => status));
  const followers = voters.filter(({ status }) => status.mode === 'follower').length;
  // What it says of its followers may be old, and what they say of themselves too: what both say counts.
  const backing = leader === null ? 0 : Math.min(leader.syncedFollowers ?? followers, followers);
  const majority = Math.floor(voters.length / 2) + 1;
  const quorumOk = leader !== null && (leader.mode === 'standalone' || backing + 1 >= majority);
  const servers = found.map(
    ({ member, status }): ServerHealth => ({
      ...status,
      server: formatServer(member.address),
      voter: member.voter,
      healthy: status === leader || (status.mode !== 'leader' && SERVING.has(status.mode)),
      zxidLag: lag(leader, status),
    }),
  );
  return {
    servers,
    voters: voters.length,
    healthyVoters: servers.filter((server) => server.voter && server.healthy).length,
    quorumOk,
    leader: servers.find((_, index) => found[index]?.status === leader)?.server ?? null,
    findings: [...before, ...findingsOf(servers, leader)],
  };
}

const SERVING: ReadonlySet<ServerMode> = new Set(['leader', 'follower', 'observer', 'standalone']);

const epoch = (status: ServerStatus): bigint => (status.zxid ?? 0n) >> 32n;

/** Of several that call themselves leader, the one of the newest epoch: the others have been deposed and don't know it. */
function leaderAmong(voters: readonly ServerStatus[]): ServerStatus | null {
  const claimants = voters.filter(({ mode }) => mode === 'leader' || mode === 'standalone');
  return claimants.reduce<ServerStatus | null>(
    (best, next) => (best === null || epoch(next) > epoch(best) ? next : best),
    null,
  );
}

/** In a fresh epoch a follower's last transaction is of an older one: then it lacks those of the new epoch alone. */
function lag(leader: ServerStatus | null, status: ServerStatus): number | null {
  if (leader?.zxid == null || status.zxid === null) return null;
  const counter = (zxid: bigint): number => Number(zxid & 0xffff_ffffn);
  const behind = epoch(status) === epoch(leader) ? counter(leader.zxid) - counter(status.zxid) : counter(leader.zxid);
  // Asked a moment later than the leader, it may even be ahead.
  return epoch(status) > epoch(leader) ? null : Math.max(0, behind);
}

function findingsOf(servers: readonly ServerHealth[], leader: ServerStatus | null): string[] {
  const findings: string[] = [];
  const named = (all: readonly ServerHealth[]): string => all.map(({ server }) => server).join(', ');
  const mute = servers.filter(({ mode, refused }) => mode === 'unknown' && refused.length > 0);
  if (mute.length > 0) {
    findings.push(
      `${named(mute)}: no word is allowed, so their health is unknown; set 4lw.commands.whitelist=srvr,mntr on each server`,
    );
  }
  const vague = servers.filter(({ mode, refused }) => mode === 'leader' && refused.includes('mntr'));
  if (vague.length > 0) {
    findings.push(
      `${named(vague)}: mntr is not allowed, so the leader's own count of followers in step is unknown, and servers that call ` +
        'themselves followers are counted instead; set 4lw.commands.whitelist=srvr,mntr on each server',
    );
  }
  const deposed = servers.filter(({ mode, healthy }) => mode === 'leader' && !healthy);
  if (deposed.length > 0) findings.push(`${named(deposed)}: still calls itself leader, in an older epoch: cut off`);
  const down = servers.filter(({ mode }) => mode === 'down');
  for (const { server, error } of down) findings.push(`${server}: no answer from here (${error})`);
  if (leader === null && servers.some(({ mode }) => mode === 'follower')) {
    findings.push('followers answer, but no leader does: it is gone, frozen, or cut off from here');
  }
  return findings;
}
