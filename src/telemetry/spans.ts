import {
  type Attributes,
  context,
  type Link,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { ElectionEvent, EventName, TenureEvents } from '../election/events.js';
import { METER } from './instrument-set.js';
import { ELECTION } from './instruments.js';
import { VERSION } from './version.js';

/** What a log line carries of the trace that it belongs to. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
  readonly trace_flags: string;
}

/** What goes on for one candidate. */
interface Trail {
  /** Joining the queue, or taking over; null while it waits, and while it leads. */
  campaign: Span | null;
  claim: Span | null;
  recover: Span | null;
  suspect: Span | null;
  /** The latest span: what later ones link to, and what log lines carry. */
  last: SpanContext | null;
}

const TERM = 'leader_election.term';
const TOKEN = 'leader_election.token';
const CANDIDATE = 'leader_election.candidate.id';

type Handlers = { readonly [K in EventName]?: (event: TenureEvents[K]) => void };

/**
 * Spans for what takes moments, and only for that: campaign, claim, recover, suspect, loss. A candidate may stand in the
 * queue, and lead, for days: neither is a span. A campaign that has to wait is two spans, for joining and for taking
 * over, and the end of a term is one of its own; each links to what came before.
 */
export class ElectionSpans {
  readonly #provider: TracerProvider | undefined;
  readonly #trails = new Map<string, Trail>();

  constructor(provider?: TracerProvider) {
    this.#provider = provider;
  }

  on<K extends EventName>(name: K, event: TenureEvents[K]): void {
    if (this.#traced) this.#handlers[name]?.(event as never);
  }

  /** Whether anybody makes spans of it: nothing is kept of thousands of candidates for nobody. An SDK may be registered after us. */
  get #traced(): boolean {
    const provider = this.#provider ?? trace.getTracerProvider();
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(METER, VERSION) !== undefined;
  }

  /** Of the candidate that the event is about; undefined without an SDK, and for events of no candidate. */
  traceOf(event: object): TraceIds | undefined {
    if (this.#trails.size === 0) return undefined;
    const { election, candidateId } = event as Partial<ElectionEvent>;
    if (election === undefined || candidateId === undefined) return undefined;
    const last = this.#trails.get(key(election, candidateId))?.last;
    return last == null ? undefined : idsOf(last);
  }

  readonly #handlers: Handlers = {
    campaign_started: (event) => {
      const trail = this.#trail(event);
      trail.campaign?.end();
      // Not a child of the caller's span, which may be the start of the process: a lead goes through many campaigns.
      const caller = trace.getSpanContext(context.active());
      trail.campaign = this.#start('campaign', event, [trail.last, caller]);
      trail.last = trail.campaign.spanContext();
    },
    joined: (event) => {
      const trail = this.#trail(event);
      trail.campaign?.addEvent('joined', { 'leader_election.queue.ahead': event.ahead });
      if (event.ahead === 0) return;
      trail.campaign?.end();
      trail.campaign = null;
    },
    position: (event) => {
      const trail = this.#trail(event);
      if (event.ahead > 0 || trail.campaign !== null) return;
      trail.campaign = this.#start('campaign', event, [trail.last]);
      trail.campaign.addEvent('first');
      trail.last = trail.campaign.spanContext();
    },
    patient: (event) => {
      this.#trail(event).campaign?.addEvent('patient', { 'leader_election.wait_ms': Math.round(event.waitMs) });
    },
    claiming: (event) => {
      const trail = this.#trail(event);
      trail.claim?.end();
      trail.claim = this.#start('claim', event, [], trail.campaign);
    },
    claim_unclear: (event) => {
      const trail = this.#trail(event);
      trail.claim?.setStatus({ code: SpanStatusCode.ERROR, message: 'refused, or the reply was lost' });
      trail.claim?.end();
      trail.claim = null;
    },
    elected: (event) => {
      const trail = this.#trail(event);
      trail.claim?.setAttributes({ 'leader_election.cause': event.cause });
      trail.claim?.end();
      trail.claim = null;
      trail.campaign?.setAttributes(attributesOf(event));
      trail.recover = this.#start('recover', event, [], trail.campaign);
    },
    campaign_ended: (event) => {
      const trail = this.#trail(event);
      trail.claim?.end();
      trail.claim = null;
      trail.campaign?.setAttribute('leader_election.outcome', event.outcome);
      if (event.outcome === 'failed') trail.campaign?.setStatus({ code: SpanStatusCode.ERROR });
      trail.campaign?.end();
      trail.campaign = null;
      if (event.outcome !== 'won') this.#trails.delete(key(event.election, event.candidateId));
    },
    recovered: (event) => {
      const trail = this.#trail(event);
      trail.recover?.end();
      trail.recover = null;
    },
    suspect: (event) => {
      const trail = this.#trail(event);
      trail.suspect?.end();
      trail.suspect = this.#start('suspect', event, [trail.last]);
      trail.suspect.setAttribute('leader_election.reason', event.reason);
    },
    leading: (event) => {
      const trail = this.#trail(event);
      trail.suspect?.end();
      trail.suspect = null;
    },
    lost: (event) => {
      const trail = this.#trail(event);
      const span = this.#start('lost', event, [trail.last]);
      span.setAttributes({ 'leader_election.reason': event.reason, 'leader_election.led_ms': Math.round(event.ledMs) });
      for (const open of [trail.recover, trail.suspect]) {
        open?.addEvent('lost', { 'leader_election.reason': event.reason });
        open?.end();
      }
      trail.recover = null;
      trail.suspect = null;
      span.end();
    },
    released: (event) => {
      const trail = this.#trails.get(key(event.election, event.candidateId));
      // A term that is over goes from memory, unless its candidate has begun anew already.
      if (trail !== undefined && trail.campaign === null && trail.recover === null) {
        this.#trails.delete(key(event.election, event.candidateId));
      }
    },
  };

  #trail({ election, candidateId }: ElectionEvent): Trail {
    const id = key(election, candidateId);
    let trail = this.#trails.get(id);
    if (trail === undefined) {
      trail = { campaign: null, claim: null, recover: null, suspect: null, last: null };
      this.#trails.set(id, trail);
    }
    return trail;
  }

  /** A root span, or a child of `parent`. */
  #start(
    name: string,
    event: ElectionEvent,
    linked: readonly (SpanContext | null | undefined)[],
    parent: Span | null = null,
  ): Span {
    const links: Link[] = [];
    for (const each of linked) if (each != null && trace.isSpanContextValid(each)) links.push({ context: each });
    // Asked for each time: an SDK may be registered after us.
    const tracer = (this.#provider ?? trace).getTracer(METER, VERSION);
    const under = parent === null ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    return tracer.startSpan(`leader_election.${name}`, { attributes: attributesOf(event), links }, under);
  }
}

function key(election: string, candidateId: string): string {
  return `${election}\n${candidateId}`;
}

function attributesOf(event: ElectionEvent & { term?: number; token?: bigint }): Attributes {
  return {
    [ELECTION]: event.election,
    [CANDIDATE]: event.candidateId,
    ...(event.term === undefined ? {} : { [TERM]: event.term }),
    // As text: an attribute has no 64-bit whole numbers here.
    ...(event.token === undefined ? {} : { [TOKEN]: event.token.toString() }),
  };
}

function idsOf(last: SpanContext): TraceIds | undefined {
  if (!trace.isSpanContextValid(last)) return undefined;
  const { traceId, spanId, traceFlags } = last;
  return { trace_id: traceId, span_id: spanId, trace_flags: traceFlags.toString(16).padStart(2, '0') };
}
