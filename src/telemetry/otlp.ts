import { metrics } from '@opentelemetry/sdk-node';

type Environment = Readonly<Record<string, string | undefined>>;

/** The signals that OpenTelemetry's standard environment variables speak of. */
type Signal = 'METRICS' | 'TRACES' | 'LOGS';

/**
 * Whether the standard environment variables ask for a signal over OTLP: its exporter is named, or an endpoint is given
 * and no other exporter. The SDK alone would send to localhost whenever nothing is said.
 */
export function asksForOtlp(signal: Signal, env: Environment = process.env): boolean {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  const named = exporters(signal, env);
  if (named.length > 0) return named.includes('otlp');
  return given(env['OTEL_EXPORTER_OTLP_ENDPOINT']) || given(env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]);
}

/** Whether anything is asked for, by OTLP or by another of the SDK's exporters. */
export function asksFor(signal: Signal, env: Environment = process.env): boolean {
  const named = exporters(signal, env);
  return asksForOtlp(signal, env) || (named.length > 0 && !named.includes('none'));
}

/** A reader that pushes metrics over OTLP, by the protocol, interval, headers and so on of the standard variables. */
export async function otlpReader(env: Environment = process.env): Promise<metrics.IMetricReader> {
  const exporter = await otlpExporter(env);
  const exportIntervalMillis = milliseconds(env['OTEL_METRIC_EXPORT_INTERVAL'], 60_000);
  const exportTimeoutMillis = Math.min(milliseconds(env['OTEL_METRIC_EXPORT_TIMEOUT'], 30_000), exportIntervalMillis);
  return new metrics.PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis });
}

async function otlpExporter(env: Environment): Promise<metrics.PushMetricExporter> {
  const protocol = env['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';
  switch (protocol) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
    default:
      throw new Error(
        `OTEL_EXPORTER_OTLP_PROTOCOL ${JSON.stringify(protocol)} is none of grpc, http/json, http/protobuf`,
      );
  }
}

function exporters(signal: Signal, env: Environment): string[] {
  return (env[`OTEL_${signal}_EXPORTER`] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(given);
}

function given(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '';
}

function milliseconds(value: string | undefined, fallback: number): number {
  const number = Number(value);
  return given(value) && Number.isFinite(number) && number > 0 ? number : fallback;
}
