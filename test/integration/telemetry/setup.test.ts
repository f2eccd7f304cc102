import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { connect } from '../../../src/index.js';
import { startTelemetry, telemetryLogger } from '../../../src/telemetry/index.js';
import { ALL_INSTRUMENTS } from '../../../src/telemetry/instruments.js';
import { MetricsPage } from '../../support/metrics-page.js';

/*
 * What `tenure/telemetry` sets up: a page to scrape always; metrics and spans over OTLP where the standard variables ask for
 * it, here to a receiver of the test's own.
 */

interface Value {
  readonly stringValue?: string;
}
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface Resource {
  readonly attributes: readonly Attribute[];
}
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: object;
  readonly gauge?: object;
  readonly histogram?: { readonly dataPoints: readonly { readonly explicitBounds: readonly number[] }[] };
}
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: readonly Attribute[];
}

const received = { metrics: new Map<string, Metric>(), spans: [] as Span[], resources: [] as Resource[] };
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    const { resourceMetrics = [], resourceSpans = [] } = JSON.parse(body);
    for (const each of resourceMetrics) {
      received.resources.push(each.resource);
      for (const scope of each.scopeMetrics) {
        for (const metric of scope.metrics) received.metrics.set(metric.name, metric);
      }
    }
    for (const each of resourceSpans) for (const scope of each.scopeSpans) received.spans.push(...scope.spans);
    response.setHeader('content-type', 'application/json').end('{}');
  });
});

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, fsync: false });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
}, 120_000);

afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await ensemble?.close();
});

const attribute = (attributes: readonly Attribute[], key: string) =>
  attributes.find((each) => each.key === key)?.value.stringValue;

describe('the SDK that is set up', () => {
  it('sends by OTLP what it is scraped for, under the same names, with spans that log lines point to', async () => {
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'http/json';
    process.env['OTEL_LOGS_EXPORTER'] = 'none';
    process.env['OTEL_SERVICE_NAME'] = 'settlement-worker';
    const sink = new PassThrough();
    let log = '';
    sink.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const telemetry = await startTelemetry({ prometheus: { port: 0 } });
    const logger = pino({ level: 'debug' }, sink);
    const tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 4_000, logger });
    const term = await tenure.election('settlement').campaign();
    const page = await MetricsPage.scrape(telemetry.metricsUrl);
    expect(page.value('leader_status', { election_name: 'settlement' })).toBe(1);
    const token = term.token.toString();
    await term.resign();
    await tenure.close();
    await telemetry.shutdown();

    for (const name of received.metrics.keys()) expect(ALL_INSTRUMENTS.map((each) => each.name)).toContain(name);
    expect(received.metrics.get('leader_election.leader.status')?.unit).toBe('{leader}');
    const election = ALL_INSTRUMENTS.find(({ name }) => name === 'leader_election.election.duration.seconds');
    const points = received.metrics.get('leader_election.election.duration.seconds')?.histogram?.dataPoints;
    expect(points?.[0]?.explicitBounds).toEqual(election?.bounds);
    const [resource] = received.resources;
    expect(attribute(resource?.attributes ?? [], 'service.name')).toBe('settlement-worker');
    expect(attribute(resource?.attributes ?? [], 'service.instance.id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(resource?.attributes.map(({ key }) => key).filter((key) => key.startsWith('process.'))).toEqual([]);

    const names = received.spans.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'leader_election.campaign',
        'leader_election.claim',
        'leader_election.recover',
        'leader_election.lost',
      ]),
    );
    const campaign = received.spans.find(({ name }) => name === 'leader_election.campaign');
    expect(attribute(campaign?.attributes ?? [], 'leader_election.token')).toBe(token);
    const elected = log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((line) => line['event'] === 'elected');
    expect(elected).toMatchObject({ election: 'settlement', term: 1, token, trace_id: campaign?.traceId });
  });

  it('says that the address of its page is taken, and what to do', async () => {
    const { port } = receiver.address() as AddressInfo;
    await expect(startTelemetry({ prometheus: { port } })).rejects.toMatchObject({
      option: 'prometheus',
      message: expect.stringMatching(/EADDRINUSE.*give each process of a machine its own/),
    });
  });
});

describe('a logger of tenure/telemetry', () => {
  it("carries the ids of the span in which a worker's line is written, and leaves those that a line brings", async () => {
    const { trace } = await import('@opentelemetry/api');
    const { tracing, node } = await import('@opentelemetry/sdk-node');
    const lines: Record<string, unknown>[] = [];
    const logger = telemetryLogger({
      hooks: {
        streamWrite: (text) => {
          lines.push(JSON.parse(text));
          return '';
        },
      },
    });
    trace.disable();
    new node.NodeTracerProvider({
      spanProcessors: [new tracing.SimpleSpanProcessor(new tracing.InMemorySpanExporter())],
    }).register();
    const tracer = trace.getTracer('test');
    const traceId = tracer.startActiveSpan('work', (span) => {
      logger.info('inside');
      logger.info({ trace_id: 'its own' }, 'told');
      span.end();
      return span.spanContext().traceId;
    });
    logger.info('outside');
    await waitFor(() => lines.length === 3, { what: 'three lines' });
    expect(lines.map((line) => line['trace_id'])).toEqual([traceId, 'its own', undefined]);
  });
});
