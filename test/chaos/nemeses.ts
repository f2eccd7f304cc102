import { LINE_FAULTS } from '../../src/verify/line-faults.js';
import { OPERATOR_ORDERS } from '../../src/verify/operator-orders.js';
import { PROCESS_FAULTS } from '../../src/verify/process-faults.js';
import { ZNODE_FAULTS } from '../../src/verify/znode-faults.js';
import { HOST_FAULTS } from './host-faults.js';
import type { Nemesis } from './nemesis.js';
import { QUEUE_FAULTS } from './queue-faults.js';
import { SERVER_FAULTS } from './server-faults.js';

/** All that can go wrong here, by name. */
export const NEMESES: Readonly<Record<string, Nemesis>> = {
  ...PROCESS_FAULTS,
  ...HOST_FAULTS,
  ...LINE_FAULTS,
  ...SERVER_FAULTS,
  ...ZNODE_FAULTS,
  ...QUEUE_FAULTS,
  ...OPERATOR_ORDERS,
};
