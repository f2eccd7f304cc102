import type { Mark, Panel } from './chart.js';
import type { Contender } from './contenders.js';
import { figures } from './figures.js';
import type { Machine } from './report.js';

/** Samples by contender; null is "never", as JSON has it. */
type Measured = Readonly<Record<string, readonly (number | null)[]>>;

/** What a run writes, as far as it is drawn. */
export interface Results {
  readonly about: Machine;
  readonly timeoutMs: number;
  readonly loads: readonly number[];
  readonly handover?: { readonly took: Measured };
  readonly kill?: Measured;
  readonly freeze?: { readonly took: Measured; readonly believed: Measured };
  readonly 'cut-off'?: Readonly<Partial<Record<'follows' | 'leads', { readonly overlap: Measured }>>>;
}

export function panels(results: Results, all: readonly Pick<Contender, 'name' | 'label'>[]): Panel[] {
  const drawn: Panel[] = [];
  const panel = (title: string, scale: Panel['scale'], measured: Measured | undefined): void => {
    if (measured === undefined) return;
    const marks = all.flatMap(({ name, label }): Mark[] => {
      const samples = measured[name]?.filter((sample) => sample !== null) ?? [];
      return samples.length === 0 ? [] : [{ label, ...figures(samples) }];
    });
    drawn.push({ title, scale, marks });
  };
  panel('Graceful hand-over: the leader gives up → the next one leads', 'log', results.handover?.took);
  panel('SIGKILL of the leader → the successor leads', 'log', results.kill);
  panel('SIGSTOP of the leader → the successor leads', 'linear', results.freeze?.took);
  panel('Thawed, with a successor in office → the old leader is told', 'log', results.freeze?.believed);
  const both = 'Both believe that they lead (left of 0: nobody does): the leader is cut off with its server,';
  panel(`${both} a follower`, 'linear', results['cut-off']?.follows?.overlap);
  panel(`${both} the ensemble's leader`, 'linear', results['cut-off']?.leads?.overlap);
  return drawn;
}
