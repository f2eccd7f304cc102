import type { CampaignEffect } from './campaign.js';
import type { ElectionPaths } from './names.js';
import type { Session, TransactionPart } from './port.js';
import type { TermOfRecord, TermRecord } from './record.js';

export type Claim = CampaignEffect & { do: 'claim' };
type Claimant = Pick<TermOfRecord, 'leaderId' | 'node' | 'session' | 'leaseMs' | 'metadata'>;

/** The record with our term in it. What an operator has set stays, but for a transfer: a claim fulfils or voids it. */
export function claimedRecord({ base, term, token, previous }: Claim, claimant: Claimant, wallMs: number): TermRecord {
  const electedAt = new Date(wallMs).toISOString();
  return { ...base, latest: { term, token, ...claimant, electedAt, ended: null }, transfer: null, previous };
}

/**
 * Sends the claim: a compare-and-set of the record at `version`, -1 where there is none yet. Where the driver has
 * transactions it is one with the check that our candidate node is still there, so that a claim for a node that has gone is
 * never on record; or, with the bytes of that node in `touch`, with its touch, which asks no less of it.
 */
export async function writeClaim(
  session: Session,
  paths: ElectionPaths,
  node: string,
  data: Uint8Array,
  version: number,
  touch: Uint8Array | null,
): Promise<void> {
  const path = paths.term;
  if (session.transaction !== undefined) {
    const claim: TransactionPart =
      version === -1 ? { do: 'create', path, data, mode: 'persistent' } : { do: 'write', path, data, version };
    const own = `${paths.queue}/${node}`;
    await session.transaction([
      touch === null ? { do: 'check', path: own } : { do: 'write', path: own, data: touch, version: -1 },
      claim,
    ]);
  } else if (version === -1) {
    await session.create(path, data, 'persistent');
  } else {
    await session.write(path, data, version);
  }
}
