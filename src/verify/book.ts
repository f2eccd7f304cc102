import type { ActSpan, Counters, Happening } from './history.js';
import type { Told } from './told.js';

/** All that is heard of a run while it goes on. */
export class Book {
  readonly happenings: Happening[] = [];
  readonly told: (Told & { readonly who: string })[] = [];
  readonly #acts = new Map<string, ActSpan>();

  hear(told: Told, who: string): void {
    const { at } = told;
    // There are hundreds of acts a second: each term's first and last one count.
    if (told.type === 'act') this.#act(told, who);
    else this.told.push({ ...told, who });
    if (told.type === 'ready') this.happenings.push({ type: 'process', who, what: 'ready', at });
    else if (told.type === 'term') this.happenings.push({ ...told, who });
    else if (told.type === 'refused') this.happenings.push({ ...told, who });
  }

  get acts(): ActSpan[] {
    return [...this.#acts.values()];
  }

  /** Who holds the highest token with which anybody has acted. */
  get leader(): string | undefined {
    const last = this.acts.reduce<ActSpan | undefined>(
      (newest, span) => (newest === undefined || BigInt(span.token) > BigInt(newest.token) ? span : newest),
      undefined,
    );
    return last?.who;
  }

  /** The writes that were confirmed to their writers. */
  get acknowledged(): string[] {
    return this.told.flatMap((line) => (line.type === 'wrote' ? [line.key] : []));
  }

  /** How often a worker has said of each batch that it has done it. */
  get done(): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    for (const line of this.told) if (line.type === 'did') times.set(line.key, (times.get(line.key) ?? 0) + 1);
    return times;
  }

  /** Of those workers that lived to count. */
  get counters(): Counters[] {
    return this.told.flatMap((line) => {
      if (line.type !== 'counters') return [];
      const { who } = line;
      const told = (type: string, what?: string): number =>
        this.told.filter((each) => each.who === who && each.type === type && (!('what' in each) || each.what === what))
          .length;
      return [
        {
          who,
          acquired: { metric: line.acquired, told: told('term', 'elected') },
          lost: { metric: line.lost, told: told('term', 'lost') },
          refused: { metric: line.refused, told: told('refused') },
        },
      ];
    });
  }

  /** What nobody should have to say. */
  get failures(): string[] {
    return this.told.flatMap((line) => (line.type === 'failed' ? [`${line.who} gave up: ${line.error}`] : []));
  }

  #act({ at, term, token }: Extract<Told, { type: 'act' }>, who: string): void {
    const key = `${who} ${token}`;
    const known = this.#acts.get(key);
    const first = Math.min(known?.first ?? at, at);
    this.#acts.set(key, { who, term, token, first, last: Math.max(known?.last ?? at, at) });
  }
}
