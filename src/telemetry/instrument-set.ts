import {
  type Attributes,
  type Counter,
  diag,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type ObservableGauge,
} from '@opentelemetry/api';
import { INSTRUMENTS, type InstrumentKey } from './instruments.js';
import { VERSION } from './version.js';

export const METER = 'tenure';

type Kinds = { counter: Counter; histogram: Histogram; gauge: ObservableGauge };

/** The instruments of the table, taken from one provider. */
export type InstrumentSet = { readonly [K in InstrumentKey]: Kinds[(typeof INSTRUMENTS)[K]['kind']] };

/** Called at each collection; may take its time, so that a collection need not hold the event loop. */
export type Observer = (observe: (gauge: ObservableGauge, value: number, attributes?: Attributes) => void) => unknown;

/** One provider's instruments, made once however many connections report to it, and those who observe its gauges. */
export class Instruments {
  readonly set: InstrumentSet;
  readonly #observers = new Set<Observer>();

  private constructor(meter: Meter) {
    const made = Object.entries(INSTRUMENTS).map(([key, row]) => {
      const { name, kind, unit, description } = row;
      if (kind === 'counter') return [key, meter.createCounter(name, { unit, description })];
      if (kind === 'gauge') return [key, meter.createObservableGauge(name, { unit, description })];
      const advice = { explicitBucketBoundaries: [...row.bounds] };
      return [key, meter.createHistogram(name, { unit, description, advice })];
    });
    this.set = Object.fromEntries(made) as InstrumentSet;
    const gauges = Object.values(this.set).filter((each): each is ObservableGauge => 'addCallback' in each);
    meter.addBatchObservableCallback(async (result) => {
      for (const observer of [...this.#observers]) {
        try {
          await observer((gauge, value, attributes) => result.observe(gauge, value, attributes));
        } catch (error) {
          diag.error('tenure: a gauge could not be read', error as Error);
        }
      }
    }, gauges);
    this.observe((observe) =>
      observe(this.set.buildInfo, 1, { version: VERSION, 'node.version': process.versions.node }),
    );
  }

  /** @returns how to stop it */
  observe(observer: Observer): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  static readonly #made = new WeakMap<MeterProvider, Instruments>();

  /**
   * The instruments of the provider, by default of the one that is registered at this moment. The metrics API hands out
   * no proxies: instruments taken before an SDK is registered stay without effect for ever, so ask again now and then.
   */
  static of(provider: MeterProvider = metrics.getMeterProvider()): Instruments {
    let instruments = Instruments.#made.get(provider);
    if (instruments === undefined) {
      instruments = new Instruments(provider.getMeter(METER, VERSION));
      Instruments.#made.set(provider, instruments);
    }
    return instruments;
  }
}
