import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { type MeterProvider, metrics as metricsApi, trace } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { type metrics, NodeSDK, type NodeSDKConfiguration, resources } from '@opentelemetry/sdk-node';
import { InvalidOptionError } from '../errors.js';
import { asksFor, asksForOtlp, otlpReader } from './otlp.js';
import { PrometheusPage } from './prometheus-page.js';
import { views } from './views.js';

/** Options of {@link startTelemetry}. */
export interface TelemetrySetup {
  /** `service.name`. Default `OTEL_SERVICE_NAME`, else `tenure`. */
  readonly serviceName?: string;
  /** `service.instance.id`, which keeps replicas apart over OTLP. Default: that of `OTEL_RESOURCE_ATTRIBUTES`, else a random one. */
  readonly instanceId?: string;
  /**
   * Where Prometheus scrapes `/metrics`. Default host `OTEL_EXPORTER_PROMETHEUS_HOST`, else 127.0.0.1; default port
   * `OTEL_EXPORTER_PROMETHEUS_PORT`, else 9464; port 0 takes a free one. False: no server; `metricsHandler` is for yours.
   */
  readonly prometheus?:
    | {
        /** The address to listen on. */
        readonly host?: string;
        /** The port to listen on. */
        readonly port?: number;
      }
    | false;
  /** More settings for the SDK, such as instrumentations. */
  readonly sdk?: Partial<Omit<NodeSDKConfiguration, 'metricReader' | 'resource' | 'serviceName'>>;
}

/** A running SDK. */
export interface RunningTelemetry extends AsyncDisposable {
  /** For `connect({ meterProvider })`, which takes it by itself unless told otherwise. */
  readonly meterProvider: MeterProvider;
  /** Where `/metrics` is served; null without a server. */
  readonly metricsUrl: string | null;
  /** Answers a scrape, in a server of your own. */
  readonly metricsHandler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Sends what is left, and stops. */
  shutdown(): Promise<void>;
}

/**
 * Sets up OpenTelemetry's SDK for this process: metrics for Prometheus to scrape, and metrics, spans and logs over OTLP
 * where the standard environment variables ask for it (`OTEL_EXPORTER_OTLP_ENDPOINT` and its kin). Call it before
 * `connect()`.
 *
 * @throws {InvalidOptionError} when metrics can't be served at the address, as where another process of this machine is
 */
export async function startTelemetry(setup: TelemetrySetup = {}): Promise<RunningTelemetry> {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const page = new PrometheusPage(reader);
  const readers: metrics.IMetricReader[] = [reader, ...(setup.sdk?.metricReaders ?? [])];
  if (asksForOtlp('METRICS')) readers.push(await otlpReader());
  const server = setup.prometheus === false ? null : await serve(page, setup.prometheus ?? {});
  const sdk = new NodeSDK({
    // Nothing is sent anywhere unless somebody asks for it.
    ...(asksFor('TRACES') ? {} : { spanProcessors: [] }),
    ...(asksFor('LOGS') ? {} : { logRecordProcessors: [] }),
    // Of the detectors only this one: others would show the command line, with whatever is in it.
    ...(process.env['OTEL_NODE_RESOURCE_DETECTORS'] ? {} : { resourceDetectors: [resources.envDetector] }),
    ...setup.sdk,
    metricReaders: readers,
    views: [...views(), ...(setup.sdk?.views ?? [])],
    resource: resourceOf(setup),
    ...(setup.serviceName === undefined ? {} : { serviceName: setup.serviceName }),
  });
  sdk.start();
  const url = server === null ? null : urlOf(server);
  const shutdown = async () => {
    server?.close();
    server?.closeAllConnections();
    await sdk.shutdown();
    // So that another one can be set up in this process.
    metricsApi.disable();
    trace.disable();
  };
  return {
    meterProvider: metricsApi.getMeterProvider(),
    metricsUrl: url,
    metricsHandler: page.handler,
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}

/** The SDK merges what the environment says of the resource over this. */
function resourceOf({ instanceId }: TelemetrySetup): resources.Resource {
  const fromEnvironment = process.env['OTEL_RESOURCE_ATTRIBUTES'] ?? '';
  return resources.defaultResource().merge(
    resources.resourceFromAttributes({
      'service.name': 'tenure',
      'host.name': hostname(),
      ...(instanceId === undefined && fromEnvironment.includes('service.instance.id=')
        ? {}
        : { 'service.instance.id': instanceId ?? randomUUID() }),
    }),
  );
}

function serve(page: PrometheusPage, options: { host?: string; port?: number }): Promise<Server> {
  const host = options.host ?? (process.env['OTEL_EXPORTER_PROMETHEUS_HOST'] || '127.0.0.1');
  const port = options.port ?? (Number(process.env['OTEL_EXPORTER_PROMETHEUS_PORT']) || 9464);
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/metrics' && reads) page.handler(request, response);
    else response.writeHead(path === '/metrics' ? 405 : 404).end();
  });
  // Being scraped is no reason to stay alive.
  server.unref();
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error): void => {
      const fix =
        'give each process of a machine its own (prometheus: { port }, or OTEL_EXPORTER_PROMETHEUS_PORT; 0: a free one)';
      const message = `prometheus: metrics can't be served: ${cause.message}; ${fix}, or none (prometheus: false)`;
      reject(new InvalidOptionError('prometheus', message, { cause }));
    };
    server.once('error', refuse);
    server.listen({ host, port }, () => {
      server.off('error', refuse);
      resolve(server);
    });
  });
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
}
