import { connect } from '../../src/index.js';
import { actAsLongAsAllowed } from '../../src/verify/acts.js';
import { monotonicMs } from '../../src/verify/monotonic.js';
import { report } from './report.js';

/** A worker process that leads whenever it may, and writes down when. Its parameters are JSON in the first argument. */
export interface WorkerParameters {
  readonly servers: string;
  readonly election: string;
  readonly id: string;
  readonly sessionTimeoutMs: number;
  /** Default false: most tests are about what happens when nobody tells of a death. */
  readonly lifeline?: boolean;
}

const {
  servers,
  election,
  id,
  sessionTimeoutMs,
  lifeline = false,
} = JSON.parse(process.argv[2] ?? '') as WorkerParameters;

const tenure = await connect({ servers, sessionTimeoutMs, lifeline });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const told = ({ term, token }: { term: number; token: bigint }) => ({ at: monotonicMs(), term, token: `${token}` });
tenure.events.on('elected', (event) => report({ event: 'elected', ...told(event) }));
tenure.events.on('lost', (event) => report({ event: 'lost', ...told(event), why: event.reason }));
report({ event: 'ready' });
await tenure
  .election(election, { id })
  .lead(
    (term) =>
      new Promise<void>((resolve) => {
        const said = { term: term.number, token: term.token.toString() };
        report({ event: 'began', at: monotonicMs(), ...said });
        actAsLongAsAllowed(term, (at) => report({ event: 'act', at, ...said }));
        const end = (): void => {
          report({ event: 'ended', at: monotonicMs(), ...said, why: String((term.signal.reason as Error).message) });
          resolve();
        };
        if (term.signal.aborted) end();
        else term.signal.addEventListener('abort', end, { once: true });
      }),
    { signal: stop.signal },
  )
  .catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
await tenure.close();
