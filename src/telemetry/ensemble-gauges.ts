import type { EnsembleHealth } from '../zookeeper/ensemble.js';
import type { Instruments } from './instrument-set.js';
import { MODES } from './instruments.js';

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

  private constructor(instruments: Instruments) {
    const { set } = instruments;
    instruments.observe((observe) => {
      const health = this.#sources.map((source) => source()).findLast((each) => each !== null);
      if (health === undefined || health === null) return;
      observe(set.quorumVoters, health.voters);
      observe(set.quorumVotersHealthy, health.healthyVoters);
      observe(set.quorumOk, Number(health.quorumOk));
      const found = new Map(health.servers.map((server) => [server.server, server]));
      for (const server of found.keys()) this.#servers.add(server);
      for (const server of this.#servers) {
        const status = found.get(server);
        for (const mode of MODES) observe(set.serverMode, Number(status?.mode === mode), { server, mode });
        for (const stat of ['min', 'avg', 'max'] as const) {
          observe(set.serverLatency, (status?.latencyMs?.[stat] ?? 0) / 1000, { server, stat });
        }
        observe(set.serverZxidLag, status?.zxidLag ?? 0, { server });
        observe(set.serverOutstanding, status?.outstanding ?? 0, { server });
      }
    });
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
