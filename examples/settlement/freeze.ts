import type pg from 'pg';

/**
 * Freezes this process at the worst moment, which no check can cover: the guard has asserted the lease a microsecond ago, and is about to
 * send its transaction. A collection of garbage, a suspended machine, a full disk do this to anybody; here a real SIGSTOP
 * does, and nothing runs until somebody sends SIGCONT.
 */
export function freezeBeforeNextTransaction(pool: pg.Pool): void {
  pool.once('acquire', (client) => {
    const query = client.query;
    client.query = ((...args: Parameters<typeof query>) => {
      client.query = query;
      process.kill(process.pid, 'SIGSTOP');
      return Reflect.apply(query, client, args);
    }) as typeof query;
  });
}
