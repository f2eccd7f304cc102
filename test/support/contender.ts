import { waitFor } from '../../deploy/local/index.js';
import type { LossReason, Tenure, TenureEvents, Term } from '../../src/index.js';
import {
  type ConnectOptions,
  connect,
  type Election,
  type ElectionOptions,
  type LeadOptions,
} from '../../src/index.js';
import { actAsLongAsAllowed } from '../../src/verify/acts.js';
import { monotonicMs } from '../../src/verify/monotonic.js';
import { ActBook } from './acts.js';

export interface ContenderOptions extends Omit<ConnectOptions, 'servers'> {
  readonly election?: ElectionOptions;
  readonly lead?: Omit<LeadOptions, 'signal'>;
  /** What it does in its term, once it has begun to act. By default it works until it is told to stop. */
  readonly work?: (term: Term) => unknown;
  /** Where to note when it acted; its own where left out. */
  readonly book?: ActBook;
}

/** A candidate of this process with a connection of its own: it leads, and acts for as long as it may. */
export class Contender implements AsyncDisposable {
  readonly id: string;
  readonly tenure: Tenure;
  readonly election: Election;
  readonly book: ActBook;
  /** All terms that it was given, with how each ended. */
  readonly terms: Term[] = [];
  /** The sending moments of the confirmed renewals, by this machine's monotonic clock. */
  lastConfirmedSentAt = 0;
  readonly events: { name: keyof TenureEvents; at: number }[] = [];
  /** How `lead` ended. */
  readonly outcome: Promise<unknown>;
  readonly #stop = new AbortController();

  private constructor(id: string, tenure: Tenure, election: Election, options: ContenderOptions) {
    this.id = id;
    this.tenure = tenure;
    this.election = election;
    this.book = options.book ?? new ActBook();
    const note = (name: keyof TenureEvents): void => {
      this.events.push({ name, at: monotonicMs() });
    };
    for (const name of [
      'joined',
      'patient',
      'elected',
      'suspect',
      'leading',
      'draining',
      'lost',
      'released',
    ] as const) {
      tenure.events.on(name, () => note(name));
    }
    tenure.events.on('renewal_confirmed', ({ roundTripMs }) => {
      this.lastConfirmedSentAt = monotonicMs() - roundTripMs;
    });
    const { work = untilAborted } = options;
    this.outcome = election
      .lead(
        (term) => {
          this.terms.push(term);
          actAsLongAsAllowed(term, (at) => this.book.note(id, term.number, term.token, at));
          return work(term);
        },
        { ...options.lead, signal: this.#stop.signal },
      )
      .catch((error: unknown) => error);
  }

  static async enter(servers: string, name: string, id: string, options: ContenderOptions = {}): Promise<Contender> {
    const { election = {}, lead: _lead, work: _work, book: _book, ...connectOptions } = options;
    const tenure = await connect({ servers, ...connectOptions });
    return new Contender(id, tenure, tenure.election(name, { id, ...election }), options);
  }

  get term(): Term | undefined {
    return this.terms.at(-1);
  }

  get leads(): boolean {
    return this.term?.state === 'leading';
  }

  /** Waits for its term number `count` (1: its first), or for the next after those it has had. */
  leading(count = this.terms.length + (this.leads ? 0 : 1), timeoutMs = 60_000): Promise<Term> {
    return waitFor(() => this.terms.length >= count && this.leads && this.term, {
      what: `${this.id} to lead`,
      timeoutMs,
      intervalMs: 5,
    });
  }

  /** How its term ended, once it has. */
  lost(term: Term, timeoutMs = 60_000): Promise<LossReason> {
    return waitFor(() => term.signal.aborted && (term.signal.reason as { reason: LossReason }).reason, {
      what: `${this.id} to lose its term`,
      timeoutMs,
      intervalMs: 2,
    });
  }

  /** Waits until it stands in the queue. */
  joined(count = 1, timeoutMs = 60_000): Promise<unknown> {
    return waitFor(() => this.count('joined') >= count, { what: `${this.id} to join`, timeoutMs, intervalMs: 5 });
  }

  count(name: keyof TenureEvents): number {
    return this.events.filter((event) => event.name === name).length;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.outcome;
    await this.tenure.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function untilAborted(term: Term): Promise<void> {
  return new Promise((resolve) => {
    if (term.signal.aborted) resolve();
    term.signal.addEventListener('abort', () => resolve());
  });
}
