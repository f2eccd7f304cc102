import type { ServerResponse } from 'node:http';
import { NotLeadingError, StaleTokenError } from '../errors.js';
import { CommitUnknownError, FenceBusyError, FenceTimeoutError, InvalidResourceError } from './errors.js';

/** What can be wrong with a fenced request: `type` of its problem document (RFC 9457). Stable. */
export const PROBLEM_TYPES = {
  /** A higher token has been accepted (409). */
  stale: 'urn:tenure:problem:stale-token',
  /** A token or a resource is needed (428). */
  missing: 'urn:tenure:problem:missing-token',
  /** The token or the resource can not be read (400). */
  malformed: 'urn:tenure:problem:malformed-token',
  /** An older term still holds the fence (503). */
  busy: 'urn:tenure:problem:fence-busy',
  /** The request held the fence for too long; nothing was written (503). */
  timeout: 'urn:tenure:problem:fence-timeout',
  /** Another write came between; nothing was written: send it again (503). */
  conflict: 'urn:tenure:problem:write-conflict',
  /** No answer came to the commit: it may have taken effect or not (500). */
  unknown: 'urn:tenure:problem:commit-unknown',
  /** What was written could not be committed (500). */
  failed: 'urn:tenure:problem:not-committed',
} as const;

const TITLES: Record<keyof typeof PROBLEM_TYPES, string> = {
  stale: 'A newer leader has been accepted',
  missing: 'A fencing token is needed',
  malformed: 'The fencing token can not be read',
  busy: 'An older leader still holds the resource',
  timeout: 'The request held the resource for too long; nothing was written',
  conflict: 'The write conflicted with another one; nothing was written',
  unknown: 'Whether the write took effect is unknown',
  failed: 'The write did not take effect',
};

export interface Problem {
  readonly status: number;
  readonly kind: keyof typeof PROBLEM_TYPES;
  readonly detail: string;
  readonly resource?: string | undefined;
  /** Decimal, as all tokens outside of a process. */
  readonly token?: string;
  readonly highest?: string;
  readonly holder?: string | undefined;
}

/** The problem that an error of a guard is to a client; undefined for errors that aren't about fencing. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof StaleTokenError) {
    const { message: detail, resource, holder } = error;
    return {
      status: 409,
      kind: 'stale',
      detail,
      resource,
      token: String(error.token),
      highest: String(error.highest),
      holder,
    };
  }
  if (error instanceof InvalidResourceError) return { status: 400, kind: 'malformed', detail: error.message };
  if (error instanceof FenceBusyError || error instanceof NotLeadingError)
    return { status: 503, kind: 'busy', detail: error.message };
  if (error instanceof FenceTimeoutError) return { status: 503, kind: 'timeout', detail: error.message };
  if (error instanceof CommitUnknownError) return { status: 500, kind: 'unknown', detail: error.message };
  return undefined;
}

/** Answers with a problem document; where bytes of another answer are out already, cuts the connection. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, kind, ...rest } = problem;
  for (const name of response.getHeaderNames()) {
    if (/^(content-|etag$|last-modified$|location$)/.test(name)) response.removeHeader(name);
  }
  const body = Buffer.from(JSON.stringify({ type: PROBLEM_TYPES[kind], title: TITLES[kind], status, ...rest }));
  response.statusCode = status;
  response.setHeader('content-type', 'application/problem+json');
  response.setHeader('content-length', body.length);
  response.setHeader('cache-control', 'no-store');
  if (status === 503) response.setHeader('retry-after', '1');
  response.end(body);
}
