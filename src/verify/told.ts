/** What a worker tells of itself on its standard output, one line of JSON each. Times are milliseconds of CLOCK_MONOTONIC. */
export type Told = { readonly at: number } & (
  | { readonly type: 'ready' }
  | { readonly type: 'act'; readonly term: number; readonly token: string }
  | {
      readonly type: 'term';
      readonly what: 'elected' | 'suspect' | 'leading' | 'draining' | 'lost';
      readonly term: number;
      readonly token: string;
      readonly reason?: string;
    }
  /** The resource has confirmed a write. */
  | { readonly type: 'wrote'; readonly key: string }
  /** The resource has confirmed a batch, which was done here. */
  | { readonly type: 'did'; readonly key: string }
  | { readonly type: 'refused'; readonly token: string; readonly code: string }
  | { readonly type: 'counters'; readonly acquired: number; readonly lost: number; readonly refused: number }
  | { readonly type: 'failed'; readonly error: string }
);
