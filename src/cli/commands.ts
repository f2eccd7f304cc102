import type { Command } from './command.js';
import { agent } from './commands/agent.js';
import { calibrate } from './commands/calibrate.js';
import { doctor } from './commands/doctor.js';
import { evict } from './commands/evict.js';
import { fence } from './commands/fence.js';
import { fenceRaise } from './commands/fence-raise.js';
import { history } from './commands/history.js';
import { hold } from './commands/hold.js';
import { leader } from './commands/leader.js';
import { pause } from './commands/pause.js';
import { provision } from './commands/provision.js';
import { resume } from './commands/resume.js';
import { rm } from './commands/rm.js';
import { run } from './commands/run.js';
import { status } from './commands/status.js';
import { transfer } from './commands/transfer.js';
import { verify } from './commands/verify.js';
import { watch } from './commands/watch.js';

/** All commands, in the order of `tenure --help`. A new one is a file in commands/ and a line here. */
export const COMMANDS: readonly Command[] = [
  run,
  status,
  leader,
  watch,
  history,
  pause,
  resume,
  transfer,
  evict,
  rm,
  hold,
  fence,
  fenceRaise,
  agent,
  provision,
  doctor,
  calibrate,
  verify,
];
