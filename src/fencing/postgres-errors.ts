import { StaleTokenError, TenureError } from '../errors.js';
import { parseToken } from '../token.js';
import { CommitUnknownError, FenceTimeoutError, FencingNotInstalledError } from './errors.js';
import { STALE_TOKEN } from './postgres-schema.js';

export const LOCK_NOT_AVAILABLE = '55P03';
export const IN_FAILED_TRANSACTION = '25P02';
/** Serialization failure, deadlock. */
export const RETRIED: ReadonlySet<string> = new Set(['40001', '40P01']);
/** Idle in transaction for too long, transaction too long. */
const TIMED_OUT: ReadonlySet<string> = new Set(['25P03', '25P04']);

/** What an error of the server means for the caller; everything else passes unchanged. */
export function translate(
  error: unknown,
  { broken, over }: { broken: Error | undefined; over: { readonly reason: unknown } | undefined },
  resource: string,
): unknown {
  const code = codeOf(error);
  if (code === STALE_TOKEN) return staleFrom(error) ?? error;
  if (error instanceof CommitUnknownError) return error;
  if (over !== undefined && !(error instanceof TenureError)) return over.reason;
  if (TIMED_OUT.has(code) || (broken !== undefined && TIMED_OUT.has(codeOf(broken)))) {
    return new FenceTimeoutError(resource, { cause: error });
  }
  return error;
}

function staleFrom(error: unknown): StaleTokenError | undefined {
  try {
    const { resource, token, highest, holder } = JSON.parse(String(serverError(error)?.detail));
    return new StaleTokenError(resource, parseToken(token), parseToken(highest), holder ?? undefined);
  } catch {
    return undefined;
  }
}

export function notInstalled(error: unknown, schema: string): unknown {
  if (!['42883', '3F000', '42P01'].includes(codeOf(error))) return error;
  return new FencingNotInstalledError(
    `schema "${schema}" lacks the guard's table or functions: run migrate(), or the SQL of fenceSchema()`,
    {
      cause: error,
    },
  );
}

/** The SQLSTATE of an error of the server, also where a query builder has wrapped it; '' for any other error. */
export function codeOf(error: unknown): string {
  return serverError(error)?.code ?? '';
}

function serverError(error: unknown): { code: string; detail?: unknown } | undefined {
  let each = error;
  for (
    let depth = 0;
    depth < 4 && typeof each === 'object' && each !== null && !(each instanceof TenureError);
    depth += 1
  ) {
    const { code, detail, cause } = each as { code?: unknown; detail?: unknown; cause?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return { code, detail };
    each = cause;
  }
  return undefined;
}
