/** A leader that freezes inside of its transaction, as a paused process or machine does: run as a process of its own. */
import pg from 'pg';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';

const [config, leaseMs, after] = process.argv.slice(2) as [string, string, 'commit' | 'query'];
const pool = new pg.Pool({ ...JSON.parse(config), max: 1 });
pool.on('error', () => undefined);
const guard = postgresGuard({ pool });

// It has led for a while.
await guard.check(fakeTerm(1n), 'ledger');

async function attempt(freeze: boolean): Promise<string> {
  try {
    // Its assert() lets everything pass: what refuses it is the resource alone.
    await guard.transaction(fakeTerm(1n, { forMs: Number(leaseMs), leaderId: 'frozen' }), 'ledger', async (tx) => {
      await tx.query("INSERT INTO ledger VALUES (1, 'from the frozen leader')");
      if (!freeze) return;
      process.stdout.write('inside\n');
      await new Promise((resolve) => setTimeout(resolve, 20));
      process.kill(process.pid, 'SIGSTOP');
      if (after === 'query') await tx.query("INSERT INTO ledger VALUES (1, 'after waking')");
    });
    return 'committed';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const first = await attempt(true);
const second = await attempt(false);
process.stdout.write(`${JSON.stringify({ first, second })}\n`);
await pool.end();
