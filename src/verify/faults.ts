import type { Fault } from './fault.js';
import { LINE_FAULTS } from './line-faults.js';
import { OPERATOR_ORDERS } from './operator-orders.js';
import { PROCESS_FAULTS } from './process-faults.js';
import { ZNODE_FAULTS } from './znode-faults.js';

/** What can be done to workers, their connections and their znodes without touching a server or the machine. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  ...PROCESS_FAULTS,
  ...LINE_FAULTS,
  ...ZNODE_FAULTS,
  ...OPERATOR_ORDERS,
};

/** Whether it needs lines between the workers and the servers. */
export function needsLines(fault: string): boolean {
  return fault in LINE_FAULTS;
}
