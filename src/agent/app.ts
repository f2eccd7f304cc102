import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express } from 'express';
import * as validator from 'express-openapi-validator';
import { InvalidElectionNameError, type Logger, TenureError } from '../index.js';
import type { Access } from './access.js';
import { candidacyRoutes } from './candidacy-routes.js';
import { controlRoutes } from './control-routes.js';
import { documentText } from './document.js';
import { electionRoutes } from './election-routes.js';
import { eventsRoute } from './events-route.js';
import { overviewRoute } from './overview-route.js';
import { pageRoute } from './page-route.js';
import { type FieldError, Problem } from './problem.js';
import { processRoutes } from './process-routes.js';
import type { Sidecar } from './sidecar.js';

export interface AppOptions {
  readonly sidecar: Sidecar;
  readonly access: Access;
  readonly metrics: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers that break the document become errors: for tests. */
  readonly validateResponses: boolean;
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Everything that the sidecar serves over HTTP. */
export function createApp({ sidecar, access, metrics, validateResponses }: AppOptions): Express {
  const { limits, logger } = sidecar.options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // No nested objects out of a query string.
  app.set('query parser', 'simple');
  app.use((request, response, next) => {
    response.set(HEADERS);
    access.check(request, request.path);
    // Answered as GET; Node.js leaves the body out by itself. Not where asking changes something.
    if (request.method === 'HEAD' && !/\/(events|candidacy)$/.test(request.path)) request.method = 'GET';
    next();
  });
  app.use(express.json({ limit: limits.bodyBytes, inflate: false, type: 'application/json' }));
  app.use(
    validator.middleware({
      apiSpec: JSON.parse(documentText),
      validateApiSpec: false,
      validateSecurity: false,
      fileUploader: false,
      validateResponses,
    }),
  );
  const router = express.Router();
  pageRoute(router);
  processRoutes(router, sidecar, metrics);
  overviewRoute(router, sidecar);
  electionRoutes(router, sidecar);
  candidacyRoutes(router, sidecar);
  eventsRoute(router, sidecar);
  controlRoutes(router, sidecar);
  app.use(router);
  app.use(problems(logger));
  return app;
}

function problems(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = problemOf(error);
    if (problem.status === 500)
      logger.error({ err: error, method: request.method, url: request.url }, 'a request failed');
    response.status(problem.status).set(problem.headers);
    response.type('application/problem+json').json(problem.body(request.originalUrl));
  };
}

interface Refusal {
  readonly status?: number;
  readonly type?: string;
  readonly message: string;
  readonly headers?: Record<string, string>;
  readonly errors?: readonly (FieldError & { readonly errorCode?: string })[];
}

/** What an operator asked for can't be done as the election stands. */
const STATUS: Readonly<Record<string, number>> = {
  UNKNOWN_ELECTION: 404,
  UNKNOWN_CANDIDATE: 404,
  AMBIGUOUS_CANDIDATE: 409,
  ALREADY_PAUSED: 409,
  NOT_PAUSED: 409,
  TRANSFER_REFUSED: 409,
  FOREIGN_QUEUE: 409,
};

/** What express, its parser and the validator throw carries a status; and our own errors say what is wrong. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InvalidElectionNameError) {
    const { message } = error;
    return new Problem(400, 'invalid_election_name', message, { errors: [{ path: '/path/name', message }] });
  }
  if (error instanceof TenureError) {
    const refused = STATUS[error.code];
    if (refused !== undefined) return new Problem(refused, error.code.toLowerCase(), error.message);
    return error.retriable
      ? new Problem(503, error.code.toLowerCase(), error.message, { headers: { 'retry-after': '1' } })
      : new Problem(400, error.code.toLowerCase(), error.message);
  }
  const { status = 500, type = '', message, headers = {}, errors } = error as Refusal;
  switch (status) {
    case 400:
      if (type === 'entity.parse.failed') return new Problem(400, 'malformed_json', `the body is no JSON: ${message}`);
      return invalid(message, errors ?? []);
    case 404:
      return new Problem(404, 'not_found', 'there is nothing here: /openapi.json says what there is');
    case 405:
      return new Problem(405, 'method_not_allowed', message, { headers: { allow: headers['Allow'] ?? '' } });
    case 413:
      return new Problem(413, 'body_too_large', message);
    case 415:
      return new Problem(415, 'unsupported_media_type', `${message}: send application/json`);
    default:
      return status < 500
        ? new Problem(status, 'refused', message)
        : new Problem(500, 'internal', 'this should not happen: the log says more');
  }
}

/** The validator's own words for a field that there is not don't name it. */
function invalid(detail: string, errors: NonNullable<Refusal['errors']>): Problem {
  const named = errors.map(({ path, message, errorCode }) => {
    const unknown = errorCode === 'additionalProperties.openapi.validation';
    return { path, message: unknown ? 'there is no such field' : message, unknown };
  });
  const unknown = named.filter((each) => each.unknown).map(({ path, message }) => `${path}: ${message}`);
  return new Problem(400, 'invalid_request', unknown.length === 0 ? detail : unknown.join(', '), {
    errors: named.map(({ path, message }) => ({ path, message })),
  });
}
