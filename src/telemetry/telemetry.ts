import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { EventName, TenureEvents } from '../election/events.js';
import type { EnsembleHealth } from '../zookeeper/ensemble.js';
import { ElectionGauges, type LiveTerm } from './election-gauges.js';
import { ElectionMetrics } from './election-metrics.js';
import { EnsembleGauges } from './ensemble-gauges.js';
import { Instruments } from './instrument-set.js';
import { OTHER } from './instruments.js';
import { type ElectionLabelOptions, ElectionLabels } from './labels.js';
import { ElectionSpans, type TraceIds } from './spans.js';
import type { Counted } from './standing.js';

export interface TelemetryOptions extends ElectionLabelOptions {
  readonly meterProvider?: MeterProvider | undefined;
  readonly tracerProvider?: TracerProvider | undefined;
}

/** What telemetry asks of a connection when its gauges are read. */
export interface TelemetrySource {
  terms(): Iterable<LiveTerm>;
  sessionTimeoutMs(): number | null;
  monotonic(): number;
  /** Null where the ensemble isn't probed, or hasn't been yet. */
  health(): EnsembleHealth | null;
}

/** One connection's metrics and spans, made of its events. Without an SDK nothing of it is more than a few assignments. */
export class Telemetry {
  readonly #provider: MeterProvider | undefined;
  readonly #labels: ElectionLabels;
  readonly #spans: ElectionSpans;
  readonly #metrics: ElectionMetrics;
  #instruments: Instruments;
  #source: TelemetrySource | null = null;
  #leave: () => void = () => {};

  constructor(options: TelemetryOptions) {
    this.#provider = options.meterProvider;
    this.#labels = new ElectionLabels(options);
    this.#spans = new ElectionSpans(options.tracerProvider);
    this.#instruments = Instruments.of(this.#provider);
    this.#metrics = new ElectionMetrics(this.#instruments.set, this.#labels);
  }

  /** Where the gauges are read from, until `close()`. */
  read(source: TelemetrySource): void {
    this.#source = source;
    this.#enter();
  }

  /** An election is made: it can read its queue. */
  election(name: string, counted: Counted): void {
    this.#renew();
    this.#metrics.standing(name).use(counted);
  }

  /** Tells an event; afterwards `traceOf` knows its trace. Never throws on purpose, and costs no more than a map look-up. */
  on<K extends EventName>(name: K, event: TenureEvents[K]): void {
    if (name === 'campaign_started' || name === 'session_opened') this.#renew();
    this.#metrics.on(name, event);
    this.#spans.on(name, event);
  }

  traceOf(event: object): TraceIds | undefined {
    return this.#spans.traceOf(event);
  }

  /** The connection is closed: its gauges stay, at 0. */
  close(): void {
    this.#source = null;
    this.#leave();
  }

  /** An SDK may have been registered, or replaced, since. */
  #renew(): void {
    const instruments = Instruments.of(this.#provider);
    if (instruments === this.#instruments) return;
    this.#leave();
    this.#instruments = instruments;
    this.#metrics.use(instruments.set);
    this.#enter();
  }

  #enter(): void {
    const labels = this.#labels;
    const source = this.#source;
    if (source === null) return;
    const leaveEnsemble = EnsembleGauges.of(this.#instruments).add(() => source.health());
    const leaveElections = ElectionGauges.of(this.#instruments).add({
      standings: this.#metrics.standings,
      label: (election) => {
        const label = labels.of(election);
        return label === OTHER ? null : label;
      },
      terms: () => source.terms(),
      sessionTimeoutMs: () => source.sessionTimeoutMs(),
      monotonic: () => source.monotonic(),
    });
    this.#leave = () => {
      leaveElections();
      leaveEnsemble();
    };
  }
}
