import { describe, expect, it } from 'vitest';
import { asksFor, asksForOtlp } from '../../../src/telemetry/otlp.js';

describe('what the standard variables ask for', () => {
  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318' }, false],
    [{ OTEL_METRICS_EXPORTER: 'otlp' }, true],
    [{ OTEL_METRICS_EXPORTER: 'prometheus, otlp' }, true],
    [{ OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, false],
    [{ OTEL_METRICS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, false],
    [{ OTEL_METRICS_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false],
  ])('%j: metrics over OTLP %s', (env: Record<string, string>, asked) => {
    expect(asksForOtlp('METRICS', env)).toBe(asked);
  });

  it.each([
    [{}, false],
    [{ OTEL_TRACES_EXPORTER: 'console' }, true],
    [{ OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, true],
  ])('%j: spans %s', (env: Record<string, string>, asked) => {
    expect(asksFor('TRACES', env)).toBe(asked);
  });
});
