import { metrics } from '@opentelemetry/sdk-node';
import { ALL_INSTRUMENTS, cardinality } from './instruments.js';

/** What the SDK allows by itself. */
const SDK_LIMIT = 2_000;

/**
 * For a MeterProvider of your own: bucket bounds, and room for as many attribute sets as the table of instruments
 * allows. The SDK's own limit would fold all elections beyond 2,000 series into one. Names and units need no view.
 */
export function views(): metrics.ViewOptions[] {
  return ALL_INSTRUMENTS.map((instrument) => ({
    instrumentName: instrument.name,
    // The SDK keeps one for the overflow.
    aggregationCardinalityLimit: Math.max(SDK_LIMIT, cardinality(instrument) + 1),
    ...(instrument.bounds === undefined
      ? {}
      : {
          aggregation: {
            type: metrics.AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
            options: { boundaries: [...instrument.bounds], recordMinMax: false },
          },
        }),
  }));
}
