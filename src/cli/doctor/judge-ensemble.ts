import { showDuration } from '../duration.js';
import type { EnsembleFacts, Facts, ServerFacts } from './facts.js';
import { type Finding, finding, ok } from './finding.js';

/** Releases that the tests run against begin here; before it watches and reconfiguration differ. */
const OLDEST = [3, 8] as const;

export function judgeEnsemble({ ensemble, asked }: Facts): Finding[] {
  const { servers } = ensemble;
  return [
    ...reachability(servers),
    ...versions(servers),
    ...quorum(ensemble),
    ...membership(ensemble),
    ...(asked.tls ? [] : words(servers)),
  ];
}

const list = (servers: readonly ServerFacts[]): string => servers.map(({ server }) => server).join(', ');
const granted = ({ session }: ServerFacts): boolean => 'grantedMs' in session;

function reachability(servers: readonly ServerFacts[]): Finding[] {
  const without = servers.filter((server) => !granted(server));
  if (without.length === 0) return [ok('reachability', `${list(servers)}: each grants a session`)];
  const severity = without.length === servers.length ? 'error' : 'warning';
  return without.map(({ server, status, session }) => {
    // What the plain connection met says more than that no session came of it.
    const why = status.error || ('error' in session ? session.error : '');
    if ('denied' in session && session.denied) {
      return finding('reachability', 'error', `${server} refuses us: ${why}`, 'check --auth-file and the TLS options');
    }
    if (status.mode === 'looking') {
      const fix = 'see to the quorum, and to its logs';
      return finding('reachability', severity, `${server} runs but serves nobody: it has no quorum`, fix);
    }
    const fix =
      'check that it runs, the address, and firewalls between here and there; workers that try it first lose time';
    return finding('reachability', severity, `${server} grants no session: ${why}`, fix);
  });
}

function versions(servers: readonly ServerFacts[]): Finding[] {
  const by = new Map<string, ServerFacts[]>();
  for (const server of servers) {
    const version = /^\d+\.\d+\.\d+/.exec(server.status.version ?? '')?.[0];
    if (version !== undefined) by.set(version, [...(by.get(version) ?? []), server]);
  }
  if (by.size === 0) return [];
  const found: Finding[] = [];
  const told = [...by].map(([version, some]) => `${version} (${list(some)})`).join('; ');
  if (by.size > 1) {
    const fix = 'finish the upgrade: mixed releases are for the time of a rolling restart only';
    found.push(finding('versions', 'warning', `several releases of ZooKeeper: ${told}`, fix));
  }
  const old = [...by.keys()].filter(isOld);
  if (old.length > 0) {
    const fix = `upgrade to a release that is maintained; Tenure is tested from ${OLDEST.join('.')} on`;
    found.push(finding('versions', 'warning', `ZooKeeper ${old.join(', ')} is old`, fix));
  }
  return found.length > 0 ? found : [ok('versions', `ZooKeeper ${told}`)];
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function quorum({ health, servers }: EnsembleFacts): Finding[] {
  const { voters, healthyVoters, quorumOk, leader } = health;
  const mute = servers.every(({ status }) => status.mode === 'unknown' || status.mode === 'down');
  if (!quorumOk && mute && servers.some(granted)) {
    // Sessions are granted through the quorum: it is there, whatever the words say.
    const fix = 'set 4lw.commands.whitelist=srvr,mntr on each server';
    return [finding('quorum', 'notice', 'there is a quorum, but the servers may not say how good it is', fix)];
  }
  if (!quorumOk) {
    const message = `no quorum: ${healthyVoters} of ${voters} voters serve, and no leader has a majority behind it`;
    return [
      finding('quorum', 'error', message, 'start the servers that are down; nobody leads until a majority is back'),
    ];
  }
  const found: Finding[] = [];
  const spare = healthyVoters - (Math.floor(voters / 2) + 1);
  if (voters === 1) {
    const fix = 'run three servers, or five: when this one goes, all leaderships go';
    found.push(finding('quorum', 'warning', `${leader ?? 'the server'} is alone`, fix));
  } else if (spare <= 0) {
    const message = `${healthyVoters} of ${voters} voters serve: the next one that goes takes the quorum along`;
    found.push(finding('quorum', 'warning', message, 'bring the others back now'));
  }
  if (voters > 1 && voters % 2 === 0) {
    const fix = 'remove one or add one';
    found.push(finding('quorum', 'notice', `${voters} voters bear no more failures than ${voters - 1} do`, fix));
  }
  for (const { server, zxidLag } of health.servers) {
    if (zxidLag === null || zxidLag < 1_000) continue;
    const fix = 'look at its disk, its network and its garbage collection';
    found.push(finding('quorum', 'warning', `${server} is ${zxidLag} transactions behind the leader`, fix));
  }
  if (found.length > 0) return found;
  return [ok('quorum', `${healthyVoters} of ${voters} voters serve, led by ${leader ?? 'one of them'}`)];
}

function membership({ servers, membersKnown }: EnsembleFacts): Finding[] {
  if (!membersKnown) return [];
  // Named by the connect string, and no member by that address: mostly a member by another name.
  const aliases = servers.filter(({ named, voter, status }) => named && !voter && status.mode !== 'observer');
  const unnamed = servers.filter(({ named, voter }) => !named && voter);
  if (aliases.length > 0 && unnamed.length > 0) {
    const message = `the connect string names ${list(aliases)}, the ensemble calls its voters ${list(unnamed)}`;
    const fix = 'see that each voter is named, by whatever name reaches it from here';
    return [finding('membership', 'notice', message, fix)];
  }
  if (aliases.length > 0) {
    const fix = 'take them out of --servers, unless they are other names of servers that belong to it';
    return [
      finding(
        'membership',
        'warning',
        `the connect string names ${list(aliases)}, which the ensemble doesn't know`,
        fix,
      ),
    ];
  }
  if (unnamed.length > 0) {
    const fix = 'add them to --servers of workers and tools, so that these find the ensemble when the others are away';
    return [finding('membership', 'notice', `the connect string doesn't name ${list(unnamed)}`, fix)];
  }
  return [ok('membership', 'the connect string names all voters')];
}

function words(servers: readonly ServerFacts[]): Finding[] {
  const refusing = servers.filter(({ status }) => status.refused.length > 0);
  if (refusing.length > 0) {
    const refused = [...new Set(refusing.flatMap(({ status }) => status.refused))].join(' and ');
    const fix = 'set 4lw.commands.whitelist=srvr,mntr on each server: the probe and the quorum alerts need them';
    return [finding('words', 'warning', `${list(refusing)}: ${refused} not allowed`, fix)];
  }
  const answering = servers.filter(({ status }) => status.mode !== 'down');
  if (answering.length === 0) return [];
  const slow = answering.filter(({ status }) => (status.outstanding ?? 0) > 100);
  if (slow.length === 0) return [ok('words', 'srvr and mntr are allowed')];
  const counts = slow.map(({ server, status }) => `${server} has ${status.outstanding} requests waiting`).join('; ');
  const busy = slow.map(({ status }) => showDuration(status.latencyMs?.max ?? 0)).join(', ');
  return [
    finding('words', 'warning', `${counts} (worst latency ${busy})`, 'the ensemble is overloaded: look at its disks'),
  ];
}
