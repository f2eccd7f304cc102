import { CoordinatorError } from '../../errors.js';
import { parseConnectString } from '../../zookeeper/servers.js';
import type { ConnectionValues } from '../connection.js';
import type { Context } from '../context.js';
import type { EnsembleFacts, Facts } from './facts.js';
import { type Finding, finding } from './finding.js';
import { judgeElections } from './judge-elections.js';
import { judgeEnsemble } from './judge-ensemble.js';
import { judgeSession, skewOf } from './judge-session.js';
import { lookAtAccess } from './look-at-access.js';
import { lookAtElections } from './look-at-elections.js';
import { type Looking, liveSessions, lookAtEnsemble } from './look-at-ensemble.js';
import { lookAtNative } from './look-at-native.js';
import { type Surroundings, surroundings } from './surroundings.js';

export interface Examination {
  readonly facts: Facts;
  readonly findings: readonly Finding[];
}

/** Looks at everything, then judges what it saw. */
export async function examine(context: Context, options: ConnectionValues, looking: Looking): Promise<Examination> {
  const around = surroundings(context, options);
  const ensemble = await lookAtEnsemble(around, looking);
  const inside = await lookInside(around, ensemble, looking);
  const wired = options.driver === 'wire' || around.tls || options.acl !== undefined;
  const facts: Facts = {
    asked: { sessionTimeoutMs: around.sessionTimeoutMs, root: around.root, tls: around.tls },
    ensemble,
    ...inside.facts,
    native: wired ? { state: 'unused', message: '' } : await lookAtNative(around, looking.timeoutMs),
  };
  const findings = [...judgeEnsemble(facts), ...judgeSession(facts), ...inside.trouble, ...judgeElections(facts)];
  return { facts, findings };
}

/** What only a session shows. */
async function lookInside(around: Surroundings, ensemble: EnsembleFacts, looking: Looking) {
  const nothing = { access: null, elections: [], liveSessions: null };
  const serving = ensemble.servers.filter(({ session }) => 'grantedMs' in session).map(({ server }) => server);
  if (serving.length === 0) return { facts: nothing, trouble: [] };
  const { servers } = parseConnectString(serving.join(','));
  const session = await around.driverOf(servers, looking.timeoutMs).open(looking.signal);
  try {
    const access = await lookAtAccess(around, session, looking.readOnly);
    if (access.forbidden.includes('read')) return { facts: { ...nothing, access }, trouble: [] };
    // Before and after: neither who joins nor who goes meanwhile is taken for an orphan.
    const before = await liveSessions(ensemble, looking.timeoutMs);
    const elections = await lookAtElections(around, session, skewOf(ensemble)?.aheadMs ?? 0, looking.signal);
    const after = await liveSessions(ensemble, looking.timeoutMs);
    const live = before === null || after === null ? null : new Set([...before, ...after]);
    return { facts: { access, elections, liveSessions: live }, trouble: [] };
  } catch (error) {
    if (!(error instanceof CoordinatorError)) throw error;
    const trouble = [
      finding(
        'access',
        'error',
        `the elections could not be read: ${error.message}`,
        'try again; look at ACLs below the root',
      ),
    ];
    return { facts: nothing, trouble };
  } finally {
    await session.close();
  }
}
