import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { type PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { metrics } from '@opentelemetry/sdk-node';

/** Lines rendered between two looks at the clock: less than a millisecond. */
const LINES_AT_A_TIME = 60;
/** After this much rendering the event loop has its turn. */
const SLICE_MS = 1;

/**
 * The page that Prometheus scrapes, rendered in slices: the exporter's own endpoint renders thousands of series in one
 * turn of the event loop, which delays renewals and looks to a leader like a pause of its process.
 */
export class PrometheusPage {
  readonly #reader: PrometheusExporter;
  readonly #first: PrometheusSerializer;
  readonly #rest: PrometheusSerializer;
  #last: Promise<unknown> = Promise.resolve();

  /** `reader` belongs to a MeterProvider and runs no server of its own. */
  constructor(reader: PrometheusExporter) {
    this.#reader = reader;
    this.#first = new PrometheusSerializer('', false, undefined, false, true);
    this.#rest = new PrometheusSerializer('', false, undefined, true, true);
  }

  /** Answers a scrape; for a server of your own. Scrapes at the same time are answered one after the other. */
  readonly handler = (request: IncomingMessage, response: ServerResponse): void => {
    const mine = this.#last.then(() => this.#answer(request, response));
    this.#last = mine.catch(() => response.destroy());
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (response.destroyed) return;
    response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    await pipeline(Readable.from(this.parts()), response);
  }

  /** The page, piece by piece. */
  async *parts(): AsyncGenerator<string> {
    const { resourceMetrics } = await this.#reader.collect();
    const { resource, scopeMetrics } = resourceMetrics;
    await turn();
    let since = performance.now();
    yield this.#first.serialize({ resource, scopeMetrics: [] }).replace(/^# no registered metrics$/m, '');
    for (const { scope, metrics } of scopeMetrics) {
      for (const metric of metrics) {
        for (const piece of pieces(metric)) {
          const text = this.#rest.serialize({ resource, scopeMetrics: [{ scope, metrics: [piece.metric] }] });
          // Label values have their line ends escaped: a line that begins with # is always a header.
          yield piece.first ? text : text.replace(/^#.*\n/gm, '');
          if (performance.now() - since < SLICE_MS) continue;
          await turn();
          since = performance.now();
        }
      }
    }
  }
}

/** One metric as several, of about as many lines each. */
function* pieces(metric: metrics.MetricData): Generator<{ metric: metrics.MetricData; first: boolean }> {
  const points: readonly unknown[] = metric.dataPoints;
  const [first] = metric.dataPoints;
  const value: unknown = first?.value;
  const lines = typeof value === 'object' && value !== null && 'buckets' in value ? 20 : 1;
  const size = Math.ceil(LINES_AT_A_TIME / lines);
  for (let at = 0; at < points.length; at += size) {
    const dataPoints = points.slice(at, at + size);
    yield { metric: { ...metric, dataPoints } as metrics.MetricData, first: at === 0 };
  }
}
