/** A writer that freezes right between its last look at the fence and the rename: run as a process of its own. */
import { fileGuard } from '../../../src/fencing/file.js';
import { fakeTerm } from '../../conformance/terms.js';

const [directory, freezeAt] = process.argv.slice(2) as [string, string];
let asked = 0;
const term = fakeTerm(1n, {
  assert: () => {
    asked += 1;
    if (asked === Number(freezeAt)) process.kill(process.pid, 'SIGSTOP');
  },
});
try {
  await fileGuard({ directory }).publish(term, 'report', 'out/report.txt', 'from the frozen writer');
  process.stdout.write(`published after ${asked}\n`);
} catch (error) {
  process.stdout.write(`${(error as { code?: string }).code ?? error}\n`);
}
