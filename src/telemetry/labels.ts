import { MAX_ELECTIONS, MAX_ELECTIONS_IN_HISTOGRAMS, OTHER } from './instruments.js';

/** Which elections get a label of their own in metrics. */
export interface ElectionLabelOptions {
  /** The elections with a label of their own. Default: all, in the order in which they are made, up to `maxElections`. */
  readonly elections?: readonly string[];
  /** How many elections keep a label of their own; the rest are counted together as `other`. Default and maximum 10,000. */
  readonly maxElections?: number;
  /** How many of them keep it in histograms too, of which each is a dozen series. Default 100. */
  readonly maxElectionsInHistograms?: number;
}

/** Names to labels: the first `max` names that come keep their own, or only those that are given; the rest is `other`. */
export class Labels {
  readonly #max: number;
  readonly #known = new Set<string>();
  readonly #closed: boolean;

  constructor(max: number, names?: readonly string[]) {
    this.#max = max;
    for (const name of names?.slice(0, max) ?? []) this.#known.add(name);
    this.#closed = names !== undefined;
  }

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#closed || this.#known.size >= this.#max) return OTHER;
    this.#known.add(name);
    return name;
  }
}

/** The labels of elections: of a gauge or counter, and of a histogram. */
export class ElectionLabels {
  readonly #plain: Labels;
  readonly #histogram: Labels;

  constructor(options: ElectionLabelOptions = {}) {
    const max = Math.min(options.maxElections ?? MAX_ELECTIONS, MAX_ELECTIONS);
    this.#plain = new Labels(max, options.elections);
    this.#histogram = new Labels(Math.min(options.maxElectionsInHistograms ?? MAX_ELECTIONS_IN_HISTOGRAMS, max));
  }

  of(election: string): string {
    return this.#plain.of(election);
  }

  /** Named in histograms only if it has a name at all. */
  inHistograms(election: string): string {
    return this.of(election) === OTHER ? OTHER : this.#histogram.of(election);
  }
}
