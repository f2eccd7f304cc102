/**
 * Sets up OpenTelemetry's SDK for a process that has none. An application with one of its own needs only `views()`.
 *
 * @module tenure/telemetry
 */
export { telemetryLogger } from './log.js';
export { type RunningTelemetry, startTelemetry, type TelemetrySetup } from './setup.js';
export { views } from './views.js';
