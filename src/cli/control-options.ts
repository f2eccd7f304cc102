import { hostname, userInfo } from 'node:os';
import type { Order } from '../election/control.js';
import type { OptionSpecs, Values } from './command.js';

/** For commands that change an election for all. */
export const ORDER_OPTIONS = {
  reason: {
    kind: 'text',
    short: 'r',
    required: true,
    help: 'Why: shown to everybody whom it concerns, and kept in the history.',
  },
  by: {
    kind: 'text',
    placeholder: 'WHO',
    env: 'TENURE_BY',
    help: 'Who asks for it. Default: your name, and that of this machine.',
  },
} as const satisfies OptionSpecs;

/** For commands that reach candidates wherever they stand. */
export const QUEUE_OPTION = {
  queue: {
    kind: 'text',
    placeholder: 'PATH',
    help: 'The queue of another library that the candidates stand in, where it is not our own.',
  },
} as const satisfies OptionSpecs;

/** For commands that can't be undone. */
export const YES_OPTION = {
  yes: { kind: 'flag', short: 'y', help: "Don't ask first." },
} as const satisfies OptionSpecs;

/** For `Tenure.election()`. */
export function queueOf({ queue }: Values<typeof QUEUE_OPTION>): { queuePath?: string } {
  return queue === undefined ? {} : { queuePath: queue };
}

export function orderOf({ reason, by }: Values<typeof ORDER_OPTIONS & OptionSpecs>): Order {
  return { reason, by: by ?? `${whoAmI()}@${hostname()}` };
}

/** A user without an entry in the system's list, as in many containers, has a number and no name. */
function whoAmI(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
