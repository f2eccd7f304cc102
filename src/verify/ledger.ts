import type { FencedTerm } from '../fencing/index.js';

/**
 * What the workers write to: a list behind a fence, and batches that are to be done once each. Nothing but the fence keeps
 * either in order.
 */
export interface Ledger {
  /** Appends to the list. When it resolves, the entry is there for good. */
  write(term: FencedTerm, who: string, key: string): Promise<void>;
  /** Does the batch unless it has been done. @returns whether it did */
  batch(term: FencedTerm, key: string, who: string): Promise<boolean>;
  close(): Promise<void>;
}
