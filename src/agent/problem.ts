/** A refusal as RFC 9457 has it; `code` is stable, for programs. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly FieldError[] | undefined;

  constructor(
    status: number,
    code: string,
    detail: string,
    extra: { headers?: Readonly<Record<string, string>>; errors?: readonly FieldError[] } = {},
  ) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.headers = extra.headers ?? {};
    this.errors = extra.errors;
  }

  body(instance: string): object {
    return {
      type: `urn:tenure:problem:${this.code}`,
      title: TITLES[this.status] ?? 'Error',
      status: this.status,
      code: this.code,
      detail: this.message,
      instance,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
    };
  }
}

/** Which field is wrong: `/body/ttlMs`, `/query/id`, … */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Body too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Unavailable',
};

/** Refused for now. */
export function unavailable(code: string, detail: string, retryAfterS = 1): Problem {
  return new Problem(503, code, detail, { headers: { 'retry-after': String(retryAfterS) } });
}
