import { trace } from '@opentelemetry/api';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

/**
 * A pino logger for `connect({ logger })` and for workers. Tenure's own lines name election, term and trace; those that a
 * worker writes inside a span carry that span's ids, by the same names. They go to standard output unless `to` says otherwise.
 */
export function telemetryLogger(options: LoggerOptions = {}, to?: DestinationStream): Logger {
  const { mixin } = options;
  const complete: LoggerOptions = {
    ...options,
    mixin(fields, level, logger) {
      const more = mixin?.(fields, level, logger) ?? {};
      if ('trace_id' in fields) return more;
      const active = trace.getActiveSpan()?.spanContext();
      if (active === undefined) return more;
      const flags = active.traceFlags.toString(16).padStart(2, '0');
      return { ...more, trace_id: active.traceId, span_id: active.spanId, trace_flags: flags };
    },
  };
  return to === undefined ? pino(complete) : pino(complete, to);
}
