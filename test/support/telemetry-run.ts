import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { metrics } from '@opentelemetry/sdk-node';
import type { LiveTerm } from '../../src/telemetry/election-gauges.js';
import { PrometheusPage } from '../../src/telemetry/prometheus-page.js';
import { Telemetry, type TelemetryOptions } from '../../src/telemetry/telemetry.js';
import { views } from '../../src/telemetry/views.js';
import type { EnsembleHealth } from '../../src/zookeeper/ensemble.js';
import { MetricsPage } from './metrics-page.js';

/** A provider of this test's own, with the page that Prometheus would scrape. */
export function testProvider() {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new metrics.MeterProvider({ readers: [reader], views: views() });
  const page = new PrometheusPage(reader);
  const scrape = async (): Promise<MetricsPage> => {
    let text = '';
    for await (const part of page.parts()) text += part;
    return new MetricsPage(text);
  };
  return { provider, reader, page, scrape };
}

/** One connection's telemetry, of which the test plays the connection. */
export function testConnection(options: TelemetryOptions) {
  const terms = new Set<LiveTerm>();
  const state = { timeoutMs: 10_000 as number | null, now: 0, health: null as EnsembleHealth | null };
  const telemetry = new Telemetry(options);
  telemetry.read({
    terms: () => terms,
    sessionTimeoutMs: () => state.timeoutMs,
    monotonic: () => state.now,
    health: () => state.health,
  });
  return { telemetry, terms, state };
}
