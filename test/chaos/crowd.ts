import { connect } from '../../src/index.js';

/** Many candidates of one process, on one connection. Whichever comes to lead gives it up at once, and goes. */
const { servers, election, count } = JSON.parse(process.argv[2] ?? '') as {
  servers: string;
  election: string;
  count: number;
};
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const tenure = await connect({ servers, sessionTimeoutMs: 6_000 });
await Promise.allSettled(
  Array.from({ length: count }, async (_, i) => {
    const term = await tenure.election(election, { id: `crowd-${i}` }).campaign({ signal: stop.signal });
    await term?.resign();
  }),
);
await tenure.close();
