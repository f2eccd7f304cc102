import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Attributes,
  type Counter,
  diag,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type ObservableUpDownCounter,
} from '@opentelemetry/api';
import { INSTRUMENTS, type Instrument, type InstrumentKey } from './instruments.js';
import { VERSION } from './version.js';

/** What all of our meters' names, and our tracer's, begin with. */
export const METER = 'tenure';

type Kinds = { counter: Counter; histogram: Histogram; gauge: ObservableUpDownCounter };
type KeysOf<Kind> = { [K in InstrumentKey]: (typeof INSTRUMENTS)[K]['kind'] extends Kind ? K : never }[InstrumentKey];

/** What is counted and recorded as it happens, taken from one provider. Gauges are read when somebody collects. */
export type InstrumentSet = {
  readonly [K in KeysOf<'counter' | 'histogram'>]: Kinds[(typeof INSTRUMENTS)[K]['kind']];
};

export type GaugeKey = KeysOf<'gauge'>;
export type Observe = (value: number, attributes?: Attributes) => void;

/** Where gauges are read from. */
export interface Readings {
  /** Called once at the start of each collection; what it throws or rejects with is reported, and reading goes on. */
  prepare?(): Promise<void> | void;
  readonly gauges: { readonly [K in GaugeKey]?: (observe: Observe) => void };
}

/**
 * One provider's instruments, made once however many connections report to it, and the gauges' readings.
 *
 * The SDK collects all of a meter in one turn of the event loop. So there are several, and each waits for a turn of its
 * own: a thousand elections, each with a dozen series, would otherwise hold a leader's event loop for longer than it may.
 */
export class Instruments {
  readonly set: InstrumentSet;
  readonly #readings = new Set<Readings>();
  #prepared: Promise<unknown> = Promise.resolve();
  #turns: Promise<unknown> = Promise.resolve();

  private constructor(provider: MeterProvider) {
    const set: Record<string, Counter | Histogram> = {};
    const rows: [string, Instrument][] = Object.entries(INSTRUMENTS);
    const scopes = [...new Set(rows.map(([, { scope }]) => scope))];
    for (const [index, scope] of scopes.entries()) {
      const meter = provider.getMeter(`${METER}.${scope}`, VERSION);
      const gauges = new Map<GaugeKey, ObservableUpDownCounter>();
      for (const [key, row] of rows.filter(([, row]) => row.scope === scope)) {
        const { name, unit, description, kind } = row;
        if (kind === 'gauge')
          gauges.set(key as GaugeKey, meter.createObservableUpDownCounter(name, { unit, description }));
        else set[key] = kind === 'counter' ? meter.createCounter(name, { unit, description }) : histogram(meter, row);
      }
      this.#collectIn(meter, gauges, index === 0);
    }
    this.set = set as InstrumentSet;
    const build = { version: VERSION, 'node.version': process.versions.node };
    this.read({ gauges: { buildInfo: (observe) => observe(1, build) } });
  }

  /** @returns how to stop it */
  read(readings: Readings): () => void {
    this.#readings.add(readings);
    return () => this.#readings.delete(readings);
  }

  /** Meters are collected side by side, in the order in which they were made: the first one prepares for all. */
  #collectIn(meter: Meter, gauges: ReadonlyMap<GaugeKey, ObservableUpDownCounter>, first: boolean): void {
    meter.addBatchObservableCallback(
      async (result) => {
        if (first) this.#prepared = this.#prepare();
        await this.#prepared;
        this.#turns = this.#turns.then(() => nextTurn());
        await this.#turns;
        for (const [key, gauge] of gauges) {
          for (const { gauges: readers } of this.#readings) {
            readers[key]?.((value, attributes) => result.observe(gauge, exact(value), attributes));
          }
        }
      },
      [...gauges.values()],
    );
  }

  async #prepare(): Promise<void> {
    const ends = await Promise.allSettled([...this.#readings].map(async (readings) => readings.prepare?.()));
    for (const end of ends) {
      if (end.status === 'rejected') diag.error('tenure: gauges could not be read', end.reason as Error);
    }
  }

  static readonly #made = new WeakMap<MeterProvider, Instruments>();

  /**
   * The instruments of the provider, by default of the one that is registered at this moment. The metrics API hands out
   * no proxies: instruments taken before an SDK is registered stay without effect for ever, so ask again now and then.
   */
  static of(provider: MeterProvider = metrics.getMeterProvider()): Instruments {
    let instruments = Instruments.#made.get(provider);
    if (instruments === undefined) {
      instruments = new Instruments(provider);
      Instruments.#made.set(provider, instruments);
    }
    return instruments;
  }
}

/**
 * Gauges are the SDK's observable up-down counters. Of a gauge it keeps the value with the newest wall-clock time, so that
 * all stand still after the clock is set back: a leader would be shown as one for an hour. Of a counter it keeps sums of
 * differences; in these steps they add up without an error, to 0 again and again.
 */
function exact(value: number): number {
  return Math.round(value * STEPS) / STEPS;
}

/** To the second: a millionth of one, and a time since 1970 fits into a double all the same. */
const STEPS = 2 ** 20;

function histogram(meter: Meter, { name, unit, description, bounds = [] }: Instrument): Histogram {
  return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } });
}
