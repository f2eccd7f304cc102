import { isKind } from '../../election/nodes.js';
import type { Acl } from '../../zookeeper/acl.js';
import type { WireSession } from '../../zookeeper/wire/session.js';
import { sameAcl, type Wanted } from './plan.js';

/** What becomes of one znode. */
export interface Step {
  readonly path: string;
  readonly action: 'create' | 'change' | 'keep';
  readonly acl: readonly Acl[];
  /** The ACL that it has, or had; null where it is created. */
  readonly before: readonly Acl[] | null;
}

const NOTHING = new Uint8Array(0);

/** What has to be done for one znode, as the ensemble is now; null where it is none of our business. */
async function stepFor(session: WireSession, { path, acl, above }: Wanted): Promise<Step | null> {
  const before = await session.acl(path).catch((error: unknown) => {
    // One above the root may well be closed to us.
    if (above && isKind(error, 'no_auth')) return [];
    throw error;
  });
  if (before === null) return { path, action: 'create', acl, before };
  if (above) return null;
  return { path, action: sameAcl(before, acl) ? 'keep' : 'change', acl, before };
}

/**
 * Makes the znodes that are absent, closed from their first moment on, and closes those that are there. Data is never touched.
 * Ends at the first refusal; to be run again then.
 *
 * @param acl what to send for a wanted ACL: one that this session is certainly let in by
 * @returns what was done, or is to be done in a dry run, parents first
 */
export async function apply(
  session: WireSession,
  wanted: readonly Wanted[],
  acl: (wanted: readonly Acl[]) => readonly Acl[],
  dryRun: boolean,
): Promise<Step[]> {
  const steps: Step[] = [];
  for (const each of wanted) {
    let step = await stepFor(session, each);
    if (step?.action === 'create' && !dryRun && !(await created(session, each.path, acl(each.acl)))) {
      // Somebody was faster: a worker that has begun, or another one who provisions.
      step = await stepFor(session, each);
    }
    if (step?.action === 'change' && !dryRun) await session.setAcl(each.path, acl(each.acl));
    if (step !== null) steps.push(step);
  }
  return steps;
}

async function created(session: WireSession, path: string, acl: readonly Acl[]): Promise<boolean> {
  try {
    await session.createNode(path, NOTHING, 'persistent', acl);
    return true;
  } catch (error) {
    if (isKind(error, 'node_exists')) return false;
    throw error;
  }
}
