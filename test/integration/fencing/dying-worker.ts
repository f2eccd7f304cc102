/** A leader that works through a task in steps and is killed in the second one: run as a process of its own. */
import pg from 'pg';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { tasks } from '../../../src/fencing/tasks.js';
import { fakeTerm } from '../../conformance/terms.js';

const pool = new pg.Pool({ ...JSON.parse(process.argv[2] as string), max: 2 });
const work = tasks({ guard: postgresGuard({ pool }), resource: 'settlement' });
await work.runSteps(fakeTerm(1n, { leaderId: 'first' }), 'day/1', async (task) => {
  await task.step('one', () => ({ rows: 3 }));
  await task.save({ cursor: 17 });
  await task.step('two', async () => {
    process.stdout.write('in two\n');
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  });
});
