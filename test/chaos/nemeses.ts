import { LINE_FAULTS } from './line-faults.js';
import type { Nemesis } from './nemesis.js';
import { OPERATOR_ORDERS } from './operator-orders.js';
import { QUEUE_FAULTS } from './queue-faults.js';
import { SERVER_FAULTS } from './server-faults.js';
import { WORKER_FAULTS } from './worker-faults.js';

/** All that can go wrong here, by name. */
export const NEMESES: Readonly<Record<string, Nemesis>> = {
  ...WORKER_FAULTS,
  ...LINE_FAULTS,
  ...SERVER_FAULTS,
  ...QUEUE_FAULTS,
  ...OPERATOR_ORDERS,
};
