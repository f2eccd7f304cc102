/** What a worker process writes to its standard output, one line of JSON each. Times are milliseconds of {@link monotonicMs}. */
export type Report =
  | { readonly event: 'ready' }
  /** It held its lease at this moment. */
  | { readonly event: 'act'; readonly at: number; readonly term: number; readonly token: string }
  /** `elected` and `lost` are what it was told of a term, `began` and `ended` what its worker did in it. */
  | {
      readonly event: 'elected' | 'lost' | 'began' | 'ended';
      readonly at: number;
      readonly term: number;
      readonly token: string;
      readonly why?: string;
    };

export function report(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
