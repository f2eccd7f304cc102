import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { metrics } from '@opentelemetry/sdk-node';
import { PrometheusPage } from '../telemetry/prometheus-page.js';
import { views } from '../telemetry/views.js';

/** What this process's metrics say of it, read as Prometheus would. */
export class Counts {
  readonly provider: metrics.MeterProvider;
  readonly #page: PrometheusPage;

  constructor() {
    const reader = new PrometheusExporter({ preventServerStart: true });
    this.provider = new metrics.MeterProvider({ readers: [reader], views: views() });
    this.#page = new PrometheusPage(reader);
  }

  /** Reads all of them once. @returns sums up the series of a name (without the common prefix) that bear this label */
  async read(): Promise<(name: string, label?: string) => number> {
    let text = '';
    for await (const part of this.#page.parts()) text += part;
    const samples = text.split('\n').flatMap((line) => {
      const [, name, labels = '', value] = /^leader_election_(\w+)(\{.*\})? (\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, labels, value: Number(value) }];
    });
    return (name, label = '') =>
      samples
        .filter((sample) => sample.name === name && sample.labels.includes(label))
        .reduce((sum, { value }) => sum + value, 0);
  }
}
