import type { EnsembleHealth, ServerHealth } from '../zookeeper/ensemble.js';
import type { Instruments } from './instrument-set.js';
import { MODES } from './instruments.js';

const STATS = ['min', 'avg', 'max'] as const;

/** The ensemble's health now; null where nobody probes it. An EnsembleWatch has it. */
export type HealthSource = () => EnsembleHealth | null;

/**
 * The gauges of the ensemble that a process probes; where it probes several, those of the last to be added. Without a
 * probe there are none: nothing is known, which is not the same as 0.
 */
export class EnsembleGauges {
  readonly #sources: HealthSource[] = [];
  /** A server that has left the ensemble goes on as 0. */
  readonly #servers = new Set<string>();

  #health: EnsembleHealth | null = null;

  private constructor(instruments: Instruments) {
    instruments.read({
      prepare: () => {
        this.#health = this.#sources.map((source) => source()).findLast((each) => each !== null) ?? null;
        for (const { server } of this.#health?.servers ?? []) this.#servers.add(server);
      },
      gauges: {
        quorumVoters: (observe) => this.#health !== null && observe(this.#health.voters),
        quorumVotersHealthy: (observe) => this.#health !== null && observe(this.#health.healthyVoters),
        quorumOk: (observe) => this.#health !== null && observe(Number(this.#health.quorumOk)),
        serverMode: (observe) => {
          for (const [server, found] of this.#each()) {
            for (const mode of MODES) observe(Number(found?.mode === mode), { server, mode });
          }
        },
        serverLatency: (observe) => {
          for (const [server, found] of this.#each()) {
            for (const stat of STATS) observe((found?.latencyMs?.[stat] ?? 0) / 1000, { server, stat });
          }
        },
        serverZxidLag: (observe) => {
          for (const [server, found] of this.#each()) observe(found?.zxidLag ?? 0, { server });
        },
        serverOutstanding: (observe) => {
          for (const [server, found] of this.#each()) observe(found?.outstanding ?? 0, { server });
        },
      },
    });
  }

  /** Every server that was ever seen, and how it does now. */
  #each(): [string, ServerHealth | undefined][] {
    const found = new Map(this.#health?.servers.map((server) => [server.server, server]));
    return [...this.#servers].map((server) => [server, found.get(server)]);
  }

  /** @returns how to take it away again; what it said last then stands, as with every gauge of the SDK */
  add(source: HealthSource): () => void {
    this.#sources.push(source);
    return () => {
      const at = this.#sources.indexOf(source);
      if (at !== -1) this.#sources.splice(at, 1);
    };
  }

  static readonly #made = new WeakMap<Instruments, EnsembleGauges>();

  static of(instruments: Instruments): EnsembleGauges {
    let gauges = EnsembleGauges.#made.get(instruments);
    if (gauges === undefined) {
      gauges = new EnsembleGauges(instruments);
      EnsembleGauges.#made.set(instruments, gauges);
    }
    return gauges;
  }
}
