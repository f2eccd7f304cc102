import { defaultLeaseMs, RENEWALS_PER_TIMEOUT } from '../../lease/lease.js';
import { showDuration } from '../duration.js';
import { quantile } from '../statistics.js';
import type { AccessFacts, EnsembleFacts, Facts, NativeFacts, ServerFacts, SessionFacts, Skew } from './facts.js';
import { type Finding, finding, ok } from './finding.js';

/** Nothing is decided by wall clocks; beyond this, dates in records and logs mislead people. */
const SKEW_MS = 1_000;

export function judgeSession(facts: Facts): Finding[] {
  const served = facts.ensemble.servers.filter(hasSession);
  return [
    ...timeouts(served, facts.asked.sessionTimeoutMs),
    ...roundTrips(served),
    ...skew(served),
    ...(facts.access === null ? [] : access(facts.access)),
    ...nativeDriver(facts.native),
  ];
}

type Served = ServerFacts & { readonly session: SessionFacts };

function hasSession(server: ServerFacts): server is Served {
  return 'grantedMs' in server.session;
}

function timeouts(served: readonly Served[], asked: number): Finding[] {
  if (served.length === 0) return [];
  const found: Finding[] = [];
  const grants = new Set(served.map(({ session }) => session.grantedMs));
  if (grants.size > 1) {
    const told = served.map(({ server, session }) => `${server} ${showDuration(session.grantedMs)}`).join(', ');
    const fix = 'give all servers the same tickTime, minSessionTimeout and maxSessionTimeout';
    found.push(finding('session_timeout', 'error', `the servers grant different timeouts: ${told}`, fix));
  }
  const { session, bounds } = served[0] as Served;
  if (session.grantedMs !== asked) {
    const range = bounds === null ? '' : `; it grants ${showDuration(bounds.minMs)} to ${showDuration(bounds.maxMs)}`;
    const message = `asked for ${showDuration(asked)}, granted ${showDuration(session.grantedMs)}${range}`;
    const fix = 'ask for what is granted, or change tickTime, minSessionTimeout or maxSessionTimeout on the servers';
    found.push(finding('session_timeout', 'warning', message, fix));
  }
  if (bounds !== null && session.grantedMs < 4 * bounds.tickMs) {
    const message = `a timeout of ${showDuration(session.grantedMs)} is less than four ticks of ${showDuration(bounds.tickMs)}`;
    const fix = 'expiry is rounded up to the next tick: shorten tickTime, or take a longer timeout';
    found.push(finding('session_timeout', 'notice', message, fix));
  }
  if (found.length > 0) return found;
  const lease = showDuration(defaultLeaseMs(session.grantedMs));
  return [ok('session_timeout', `granted as asked for: ${showDuration(session.grantedMs)}, so a lease of ${lease}`)];
}

function roundTrips(served: readonly Served[]): Finding[] {
  const found: Finding[] = [];
  const told: string[] = [];
  for (const { server, session } of served) {
    const times = session.writesMs.length > 0 ? session.writesMs : session.readsMs;
    if (times.length === 0) continue;
    const what = session.writesMs.length > 0 ? 'write' : 'read';
    const [typical, slowest] = [quantile(times, 0.5), quantile(times, 1)];
    const text = `${server}: a ${what} takes ${showDuration(typical)}, at most ${showDuration(slowest)} of ${times.length}`;
    told.push(text);
    const every = session.grantedMs / RENEWALS_PER_TIMEOUT;
    const fix =
      'look at the network and at the disks of the ensemble; take a longer timeout (tenure calibrate proposes one)';
    if (slowest > defaultLeaseMs(session.grantedMs) / 2) {
      const message = `${text}, which is more than half a lease: leaders turn suspect`;
      found.push(finding('round_trips', 'error', message, fix));
    } else if (slowest > every) {
      const message = `${text}, which is longer than the ${showDuration(every)} between two renewals`;
      found.push(finding('round_trips', 'warning', message, fix));
    }
  }
  if (found.length > 0) return found;
  return told.length === 0 ? [] : [ok('round_trips', told.join('; '))];
}

/** All servers tell of the same clock, that of the ensemble's leader: the sharpest look at it counts. */
export function skewOf({ servers }: Pick<EnsembleFacts, 'servers'>): Skew | null {
  const skews = servers.flatMap(({ session }) => ('skew' in session && session.skew !== null ? [session.skew] : []));
  return skews.sort((a, b) => a.errorMs - b.errorMs)[0] ?? null;
}

function skew(served: readonly Served[]): Finding[] {
  const best = skewOf({ servers: served });
  if (best === null) return [];
  const direction = best.aheadMs < 0 ? 'behind' : 'ahead of';
  const text =
    `the clock of the ensemble's leader is ${showDuration(Math.abs(best.aheadMs))} ${direction} ours ` +
    `(to within ${showDuration(best.errorMs)})`;
  if (Math.abs(best.aheadMs) - best.errorMs <= SKEW_MS) return [ok('clock_skew', text)];
  const fix = 'set both by NTP; nothing is decided by wall clocks, but dates in records, history and logs mislead';
  return [finding('clock_skew', 'warning', text, fix)];
}

function access({ path, rootExists, acl, forbidden, prepared, readOnly }: AccessFacts): Finding[] {
  const found: Finding[] = [];
  if (forbidden.length > 0) {
    const fix = 'give the credentials with --auth-file, or let them in with tenure provision';
    found.push(finding('access', 'error', `${path}: we may not ${forbidden.join(', ')}`, fix));
  } else if (prepared) {
    found.push(ok('access', `${path}: we may take part in elections that were prepared, and make no others`));
  } else {
    const may = readOnly ? 'read' : 'read, create, write and delete';
    const note = rootExists ? '' : '; the root is absent and is made by the first candidate';
    found.push(ok('access', `${path}: we may ${may}${note}`));
  }
  if (acl?.some((line) => line.scheme === 'world' && /[cdwa]/.test(line.permissions)) === true) {
    const who = acl.map(({ scheme, id, permissions }) => `${scheme}:${id}:${permissions}`).join(', ');
    const fix =
      'keep others off the network of the ensemble; close root and elections with tenure provision, and run workers with --acl';
    found.push(finding('acl', 'notice', `${path} is open to everybody who reaches the ensemble (${who})`, fix));
  } else if (acl !== null) {
    found.push(ok('acl', `${path} is kept to ${acl.map(({ scheme, id }) => `${scheme}:${id}`).join(', ')}`));
  }
  return found;
}

function nativeDriver({ state, message }: NativeFacts): Finding[] {
  switch (state) {
    case 'good':
      return [ok('native_driver', message)];
    case 'unused':
      return [];
    case 'inherits': {
      const fix = 'rm -rf node_modules/zookeeper/build && with_sock_cloexec=yes npm rebuild zookeeper';
      return [finding('native_driver', 'error', message, fix)];
    }
    case 'unavailable': {
      const fix =
        'install it, or choose the wire driver by name (--driver wire, TENURE_DRIVER=wire), which says no more about it';
      return [finding('native_driver', 'warning', message, fix)];
    }
  }
}
