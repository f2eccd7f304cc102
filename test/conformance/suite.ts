import { overWorld } from './bench.js';
import { closingChecks } from './closing.js';
import { errorChecks } from './errors.js';
import { nodeChecks } from './nodes.js';
import { openingChecks } from './opening.js';
import { orderChecks } from './order.js';
import { reconnectChecks } from './reconnect.js';
import { sessionChecks } from './sessions.js';
import { transactionChecks } from './transactions.js';
import { watchChecks } from './watches.js';
import type { ConformanceWorld } from './world.js';

/** Every promise of the port, tried on one adapter. What an election is proved by holds for whatever passes. */
export function portConformance(
  name: string,
  makeWorld: () => Promise<ConformanceWorld>,
  { transactions = false }: { readonly transactions?: boolean } = {},
): void {
  overWorld(name, makeWorld, (check) => {
    openingChecks(check);
    nodeChecks(check);
    errorChecks(check);
    orderChecks(check);
    watchChecks(check);
    reconnectChecks(check);
    sessionChecks(check);
    closingChecks(check);
    if (transactions) transactionChecks(check);
  });
}
