/**
 * Candidates by Tenure: one, or a crowd. README.md in the folder above has the lines.
 *
 * tenure.ts MODULE LIFELINE SERVERS ELECTION ID|COUNT SESSION_TIMEOUT_MS candidate|one|many
 */
import { createInterface } from 'node:readline';
import type { Tenure, Term } from '../../../src/index.js';
import { actAsLongAsAllowed } from '../../../src/verify/acts.js';
import { monotonicMs } from '../../../src/verify/monotonic.js';

const [module = '', lifeline = '', servers = '', name = '', who = '', timeoutMs = '', mode = ''] =
  process.argv.slice(2);
const { connect } = (await import(module)) as typeof import('../../../src/index.js');

const say = (event: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
};

const open = (): Promise<Tenure> =>
  connect({ servers, sessionTimeoutMs: Number(timeoutMs), lifeline: lifeline === 'true' });

interface Candidate {
  readonly id: string;
  readonly election: string;
  readonly tenure: Tenure;
  leads: boolean;
  leaving: AbortController;
}

const count = mode === 'candidate' ? 1 : Number(who);
const shared = mode === 'many' ? await open() : null;
const candidates: Candidate[] = [];
for (let index = 0; index < count; index++) {
  const id = mode === 'candidate' ? who : String(index);
  const election = mode === 'many' ? `${name}/${index}` : name;
  const tenure = shared ?? (await open());
  candidates.push({ id, election, tenure, leads: false, leaving: new AbortController() });
}

/** Says when it is told that the term is over, and when `assert()` last passed: what asks it every 2 ms is for one candidate alone. */
function work(candidate: Candidate, term: Term): Promise<void> {
  const at = monotonicMs();
  let held = at;
  const stop =
    mode === 'candidate'
      ? actAsLongAsAllowed(term, (now) => {
          held = now;
        })
      : () => {};
  candidate.leads = true;
  return new Promise((resolve) => {
    const over = (): void => {
      const reason = (term.signal.reason as { reason?: string }).reason ?? 'resigned';
      say('lost', { at: monotonicMs(), id: candidate.id, why: reason, held });
      candidate.leads = false;
      stop();
      resolve();
    };
    say('led', { at, id: candidate.id });
    if (term.signal.aborted) over();
    else term.signal.addEventListener('abort', over, { once: true });
  });
}

function join(candidate: Candidate): void {
  candidate.leaving = new AbortController();
  const { signal } = candidate.leaving;
  candidate.tenure
    .election(candidate.election, { id: candidate.id })
    .lead((term) => work(candidate, term), { signal })
    .catch((error: Error) => {
      if (!signal.aborted) say('failed', { error: error.message });
    });
}

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'join') for (const candidate of candidates) join(candidate);
  else if (line === 'leave') candidates.find(({ leads }) => leads)?.leaving.abort();
}
await Promise.all([...new Set(candidates.map(({ tenure }) => tenure))].map((tenure) => tenure.close()));
