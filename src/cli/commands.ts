import type { Command } from './command.js';
import { agent } from './commands/agent.js';
import { doctor } from './commands/doctor.js';
import { leader } from './commands/leader.js';
import { run } from './commands/run.js';
import { status } from './commands/status.js';
import { watch } from './commands/watch.js';

/** All commands, in the order of `tenure --help`. A new one is a file in commands/ and a line here. */
export const COMMANDS: readonly Command[] = [run, status, leader, watch, agent, doctor];
