import { context, trace } from '@opentelemetry/api';
import { tracing } from '@opentelemetry/sdk-node';
import { describe, expect, it } from 'vitest';
import { logEvent } from '../../../src/logging.js';
import { ElectionSpans } from '../../../src/telemetry/spans.js';

const who = { election: 'a', candidateId: 'one' };
const term = { ...who, term: 3, token: 9_007_199_254_740_993n };
const elected = { ...term, electionMs: 1, failoverMs: 2, patienceMs: 0, cause: 'died' } as const;

function setUp() {
  const exporter = new tracing.InMemorySpanExporter();
  const provider = new tracing.BasicTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)] });
  const spans = new ElectionSpans(provider);
  const ended = () => exporter.getFinishedSpans();
  const named = (name: string) => ended().filter((span) => span.name === `leader_election.${name}`);
  const only = (name: string) => {
    const [span, more] = named(name);
    if (span === undefined || more !== undefined) throw new Error(`${named(name).length} spans ${name}`);
    return span;
  };
  const win = () => {
    spans.on('campaign_started', who);
    spans.on('joined', { ...who, node: 'n', ahead: 0 });
    spans.on('patient', { ...who, waitMs: 100.4 });
    spans.on('claiming', term);
    spans.on('elected', elected);
    spans.on('campaign_ended', { ...who, outcome: 'won', durationMs: 1 });
  };
  return { spans, provider, ended, named, only, win };
}

describe('spans', () => {
  it('are one for the campaign, with claim and recover below it, and the token as text', () => {
    const { spans, only, win } = setUp();
    win();
    spans.on('recovered', { ...term, durationMs: 1 });
    const campaign = only('campaign');
    expect(campaign.events.map(({ name }) => name)).toEqual(['joined', 'patient']);
    expect(campaign.attributes).toMatchObject({
      'election.name': 'a',
      'leader_election.candidate.id': 'one',
      'leader_election.outcome': 'won',
      'leader_election.term': 3,
      'leader_election.token': '9007199254740993',
    });
    for (const name of ['claim', 'recover']) {
      expect(only(name).parentSpanContext?.spanId).toBe(campaign.spanContext().spanId);
      expect(only(name).attributes['leader_election.token']).toBe('9007199254740993');
    }
    expect(only('claim').attributes['leader_election.cause']).toBe('died');
  });

  it('stay closed while a candidate waits and while it leads, and link what comes later to what was before', () => {
    const { spans, ended, named, only } = setUp();
    spans.on('campaign_started', who);
    spans.on('joined', { ...who, node: 'n', ahead: 2 });
    // Days later.
    spans.on('position', { ...who, ahead: 1 });
    expect(named('campaign')).toHaveLength(1);
    spans.on('position', { ...who, ahead: 0 });
    spans.on('claiming', term);
    spans.on('elected', elected);
    spans.on('campaign_ended', { ...who, outcome: 'won', durationMs: 1 });
    spans.on('recovered', { ...term, durationMs: 1 });
    const [joining, takeover] = named('campaign');
    expect(takeover?.links.map(({ context }) => context.spanId)).toEqual([joining?.spanContext().spanId]);
    expect(takeover?.parentSpanContext).toBeUndefined();
    // Leading: nothing is open, so nothing more comes out when the process ends.
    expect(ended()).toHaveLength(4);
    spans.on('suspect', { ...term, reason: 'process_paused' });
    spans.on('leading', { ...term, suspectMs: 3 });
    spans.on('lost', { ...term, reason: 'session_expired', ledMs: 86_400_000 });
    for (const span of [only('suspect'), only('lost')]) {
      expect(span.links.map(({ context }) => context.spanId)).toEqual([takeover?.spanContext().spanId]);
    }
    expect(only('lost').attributes).toMatchObject({
      'leader_election.reason': 'session_expired',
      'leader_election.led_ms': 86_400_000,
    });
  });

  it('end with the loss that interrupts a recovery, and with a claim that is refused', () => {
    const { spans, only, named, win } = setUp();
    spans.on('campaign_started', who);
    spans.on('claiming', term);
    spans.on('claim_unclear', term);
    expect(only('claim').status.code).toBe(2);
    win();
    spans.on('lost', { ...term, reason: 'node_gone', ledMs: 4 });
    expect(only('recover').events.map(({ name }) => name)).toEqual(['lost']);
    expect(named('claim')).toHaveLength(2);
  });

  it("are linked to the caller's span, not children of it", () => {
    const { spans, provider, only } = setUp();
    const caller = provider.getTracer('test').startSpan('caller');
    const active = trace.setSpan(context.active(), caller);
    // Without a context manager the active context is the root: stand in for one.
    const enabled = context.setGlobalContextManager({
      active: () => active,
      with: (_, fn, self, ...args) => fn.call(self as never, ...args),
      bind: (_, target) => target,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
    try {
      expect(enabled).toBe(true);
      spans.on('campaign_started', who);
      spans.on('campaign_ended', { ...who, outcome: 'failed', durationMs: 1 });
    } finally {
      context.disable();
    }
    expect(only('campaign').parentSpanContext).toBeUndefined();
    expect(only('campaign').links.map(({ context }) => context.spanId)).toEqual([caller.spanContext().spanId]);
    expect(only('campaign').status.code).toBe(2);
  });

  it('give their ids to the log lines of the candidate', () => {
    const { spans, only, win } = setUp();
    win();
    const lines: object[] = [];
    const write = (fields: object) => void lines.push(fields);
    logEvent({ debug: write, info: write, warn: write, error: write }, 'elected', elected, spans.traceOf(elected));
    const { traceId, spanId } = only('campaign').spanContext();
    expect(lines).toMatchObject([{ election: 'a', term: 3, trace_id: traceId, span_id: spanId, trace_flags: '01' }]);
    expect(spans.traceOf({ election: 'b', candidateId: 'one' })).toBeUndefined();
    expect(spans.traceOf({ kind: 'connection_lost' })).toBeUndefined();
  });

  it('keep nothing of candidates that are gone', () => {
    const { spans, win } = setUp();
    win();
    spans.on('recovered', { ...term, durationMs: 1 });
    spans.on('lost', { ...term, reason: 'resigned', ledMs: 4 });
    expect(spans.traceOf(term)).toBeDefined();
    spans.on('released', { ...term, announced: true });
    expect(spans.traceOf(term)).toBeUndefined();
  });

  it('are nothing without an SDK, and neither are their ids', () => {
    const spans = new ElectionSpans();
    spans.on('campaign_started', who);
    spans.on('joined', { ...who, node: 'n', ahead: 0 });
    expect(spans.traceOf(who)).toBeUndefined();
  });
});
