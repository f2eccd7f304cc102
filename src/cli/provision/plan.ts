import { PERMISSION_LETTERS } from '../../driver.js';
import { electionPaths } from '../../election/names.js';
import { neededZnodes } from '../../election/rights.js';
import { type Acl, PERMISSIONS } from '../../zookeeper/acl.js';
import type { Identity } from './identities.js';

/** Who is to be let in. */
export interface Parties {
  /** Whoever runs this: may do everything. */
  readonly own: readonly Identity[];
  /** May do everything, too. */
  readonly admins: readonly Identity[];
  readonly workers: readonly Identity[];
}

/** A znode as it is to be. */
export interface Wanted {
  readonly path: string;
  readonly acl: readonly Acl[];
  /** It lies above the root: made where it is absent, and otherwise none of our business. */
  readonly above: boolean;
}

const ALL = Object.values(PERMISSIONS).reduce((sum, bit) => sum + bit, 0);

/** Parents first. `root`: with the chroot before it. */
export function plan(root: string, elections: readonly string[], parties: Parties): Wanted[] {
  const segments = root.slice(1).split('/').slice(0, -1);
  const above = segments.map((_, index) => `/${segments.slice(0, index + 1).join('/')}`);
  const paths = elections.map((name) => electionPaths(root, name));
  return [
    ...above.map((path) => ({ path, acl: aclFor(parties, ''), above: true })),
    ...neededZnodes(root, paths).map(({ path, rights }) => ({ path, acl: aclFor(parties, rights), above: false })),
  ];
}

/** Everything for those who administer, `rights` for workers; one line for each identity. */
export function aclFor({ own, admins, workers }: Parties, rights: string, forAdmins: number = ALL): Acl[] {
  const lines = new Map<string, Acl>();
  const allow = ({ scheme, id }: Identity, permissions: number): void => {
    const key = `${scheme}:${id}`;
    lines.set(key, { scheme, id, permissions: (lines.get(key)?.permissions ?? 0) | permissions });
  };
  for (const identity of [...own, ...admins]) allow(identity, forAdmins);
  const bits = [...rights].reduce((sum, letter) => sum + (PERMISSION_LETTERS[letter] ?? 0), 0);
  if (bits > 0) for (const identity of workers) allow(identity, bits);
  return [...lines.values()];
}

/** Whether both let in the same, whatever their order. */
export function sameAcl(one: readonly Acl[], other: readonly Acl[]): boolean {
  const key = (acl: readonly Acl[]) =>
    acl
      .map(({ scheme, id, permissions }) => `${scheme}:${id}:${permissions}`)
      .sort()
      .join('\n');
  return key(one) === key(other);
}
