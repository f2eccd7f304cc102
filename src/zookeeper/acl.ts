/** Who may do what to a node. */
export interface Acl {
  /** `world`, `auth`, `digest`, `ip`, `x509`, … */
  readonly scheme: string;
  readonly id: string;
  /** The sum of {@link PERMISSIONS}. */
  readonly permissions: number;
}

export const PERMISSIONS = { read: 1, write: 2, create: 4, delete: 8, admin: 16 } as const;

/** Everybody may do everything. */
export const OPEN_ACL: readonly Acl[] = [{ scheme: 'world', id: 'anyone', permissions: 31 }];
