import { sessionsPath } from '../../election/names.js';
import { isKind } from '../../election/nodes.js';
import type { WireSession } from '../../zookeeper/wire/session.js';
import type { AccessFacts } from './facts.js';
import { deepest } from './measure.js';
import { aclLine, type Surroundings } from './surroundings.js';

/** Tries what workers must be able to do, at the root or the deepest znode on the way to it. */
export async function lookAtAccess(
  around: Surroundings,
  session: WireSession,
  readOnly: boolean,
): Promise<AccessFacts> {
  const path = await deepest(session, around.root);
  const forbidden: AccessFacts['forbidden'][number][] = [];
  const attempt = async (right: (typeof forbidden)[number], operation: () => Promise<unknown>): Promise<void> => {
    try {
      await operation();
    } catch (error) {
      if (!isKind(error, 'no_auth')) throw error;
      forbidden.push(right);
    }
  };
  const data = new TextEncoder().encode('{"v":1}');
  const created = async (parent: string): Promise<string | null> => {
    const probe = `${parent === '/' ? '' : parent}/${around.host.uuid()}`;
    await attempt('create', () => session.create(probe, data, 'ephemeral'));
    return forbidden.includes('create') ? null : probe;
  };
  await attempt('read', () => session.children(path));
  let prepared = false;
  if (!readOnly) {
    const probe = await created(path);
    if (probe !== null) {
      await attempt('write', () => session.write(probe, data, -1));
      await attempt('delete', () => session.remove(probe));
    } else if (path === around.root && (await deepest(session, sessionsPath(path))) !== path) {
      // As `tenure provision` makes it for workers: they create below `sessions`, and in queues. The probe goes with our session.
      forbidden.splice(forbidden.indexOf('create'), 1);
      prepared = (await created(sessionsPath(path))) !== null;
    }
  }
  const acl = await session.acl(path).catch((error: unknown) => {
    if (isKind(error, 'no_auth')) return null;
    throw error;
  });
  return { path, rootExists: path === around.root, acl: acl?.map(aclLine) ?? null, forbidden, prepared, readOnly };
}
