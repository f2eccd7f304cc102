import type { Attributes } from '@opentelemetry/api';
import type { Instruments, Observe } from './instrument-set.js';
import { ELECTION } from './instruments.js';
import type { Standing } from './standing.js';

/** What the gauges need of a term that this process holds. */
export interface LiveTerm {
  readonly election: string;
  readonly number: number;
  remainingMs(): number;
}

/** One connection, as its gauges are read. */
export interface GaugeSource {
  /** By the name of the election. */
  readonly standings: ReadonlyMap<string, Standing>;
  terms(): Iterable<LiveTerm>;
  /** Null between two sessions. */
  sessionTimeoutMs(): number | null;
  /** Null where the election has no label of its own: gauges of many elections together would say nothing. */
  label(election: string): string | null;
  monotonic(): number;
}

interface Row {
  leads: boolean;
  /** Goes on as it was: a term is never forgotten. */
  term: number;
  paused: boolean;
  foreignLeader: boolean;
  recovering: boolean;
  leaseMs: number;
  candidates: number;
  position: number;
  headroom: number | null;
}

/** A count that takes longer is shown by the next collection. */
const CENSUS_WAIT_MS = 250;
/** For one collection; the oldest first, so that each election has its turn. */
const CENSUSES = 200;
/** At a time, so that a renewal never waits behind many of them. */
const CENSUSES_AT_A_TIME = 16;

/**
 * The gauges of elections, over all connections that report to one provider. A series that was seen goes on for as
 * long as the process lives, as 0 once there is nothing to tell: the SDK would repeat its last value for ever.
 */
export class ElectionGauges {
  readonly #sources = new Set<GaugeSource>();
  readonly #rows = new Map<string, { readonly attributes: Attributes; readonly row: Row }>();
  #hadSession = false;

  private constructor(instruments: Instruments) {
    const each =
      (value: (row: Row) => number | null): ((observe: Observe) => void) =>
      (observe) => {
        for (const { attributes, row } of this.#rows.values()) {
          const now = value(row);
          if (now !== null) observe(now, attributes);
        }
      };
    instruments.read({
      prepare: async () => {
        await this.#count();
        this.#fold();
      },
      gauges: {
        sessionTimeout: (observe) => this.#hadSession && observe(this.#sessionTimeoutMs() / 1000),
        leaderStatus: each(({ leads }) => Number(leads)),
        term: each(({ term }) => term),
        paused: each(({ paused }) => Number(paused)),
        foreignLeader: each(({ foreignLeader }) => Number(foreignLeader)),
        recovering: each(({ recovering }) => Number(recovering)),
        leaseRemaining: each(({ leaseMs }) => leaseMs / 1000),
        candidates: each(({ candidates }) => candidates),
        queuePosition: each(({ position }) => position),
        sequenceHeadroom: each(({ headroom }) => headroom),
      },
    });
  }

  /** @returns how to take it away again */
  add(source: GaugeSource): () => void {
    this.#sources.add(source);
    this.#hadSession = true;
    return () => this.#sources.delete(source);
  }

  static readonly #made = new WeakMap<Instruments, ElectionGauges>();

  static of(instruments: Instruments): ElectionGauges {
    let gauges = ElectionGauges.#made.get(instruments);
    if (gauges === undefined) {
      gauges = new ElectionGauges(instruments);
      ElectionGauges.#made.set(instruments, gauges);
    }
    return gauges;
  }

  #fold(): void {
    for (const { row } of this.#rows.values()) Object.assign(row, { ...EMPTY, term: row.term, headroom: row.headroom });
    for (const source of this.#sources) {
      for (const [election, standing] of source.standings) {
        const label = source.label(election);
        if (label === null) continue;
        const row = this.#row(label);
        row.term = Math.max(row.term, standing.term);
        row.paused ||= standing.paused;
        row.foreignLeader ||= standing.foreignLeader;
        row.recovering ||= standing.recovering;
        row.candidates = Math.max(row.candidates, standing.candidates);
        row.position = smallest(row.position, standing.position);
        row.headroom = standing.headroom ?? row.headroom;
      }
      for (const term of source.terms()) {
        const label = source.label(term.election);
        // Asked of the clocks: after a pause the timer that ends the term may not have fired yet.
        const leaseMs = label === null ? 0 : term.remainingMs();
        if (label === null || leaseMs === 0) continue;
        const row = this.#row(label);
        row.leads = true;
        row.term = Math.max(row.term, term.number);
        row.leaseMs = Math.max(row.leaseMs, leaseMs);
      }
    }
  }

  #row(label: string): Row {
    let found = this.#rows.get(label);
    if (found === undefined) {
      found = { attributes: { [ELECTION]: label }, row: { ...EMPTY } };
      this.#rows.set(label, found);
    }
    return found.row;
  }

  /** The shortest of all connections: one that has lost its session is what matters. */
  #sessionTimeoutMs(): number {
    const all = [...this.#sources].map((source) => source.sessionTimeoutMs() ?? 0);
    return all.length === 0 ? 0 : Math.min(...all);
  }

  async #count(): Promise<void> {
    const due: { age: number; count: () => Promise<void> }[] = [];
    for (const source of this.#sources) {
      const now = source.monotonic();
      for (const standing of source.standings.values()) {
        const age = standing.censusDue(now);
        if (age !== null) due.push({ age, count: () => standing.count(now) });
      }
    }
    const queue = due.sort((a, b) => b.age - a.age).slice(0, CENSUSES);
    const next = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) await one.count();
    };
    const all = Promise.all(Array.from({ length: CENSUSES_AT_A_TIME }, next));
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CENSUS_WAIT_MS);
    });
    await Promise.race([all, enough]);
    clearTimeout(timer);
  }
}

const EMPTY: Row = {
  leads: false,
  term: 0,
  paused: false,
  foreignLeader: false,
  recovering: false,
  leaseMs: 0,
  candidates: 0,
  position: 0,
  headroom: null,
};

function smallest(a: number, b: number): number {
  return a === 0 || b === 0 ? a + b : Math.min(a, b);
}
