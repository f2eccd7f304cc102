/** A page in Prometheus's text format, as the values that are in it. */
export class MetricsPage {
  readonly text: string;
  readonly #samples = new Map<string, number>();

  constructor(text: string) {
    this.text = text;
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const at = line.lastIndexOf(' ');
      this.#samples.set(normal(line.slice(0, at)), Number(line.slice(at + 1).replace('+Inf', 'Infinity')));
    }
  }

  static async scrape(url: string | null): Promise<MetricsPage> {
    if (url === null) throw new Error('there is no page');
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return new MetricsPage(await response.text());
  }

  /** Of `name{labels}`, without the prefix that all of ours have; undefined where there is no such series. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const text = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    return this.#samples.get(normal(`leader_election_${name}{${text.join(',')}}`));
  }

  /** Every series of that name, histograms by `_count`. */
  all(name: string): [string, number][] {
    return [...this.#samples].filter(([series]) => /^[^{]*/.exec(series)?.[0] === name);
  }
}

function normal(series: string): string {
  const [, name = '', labels = ''] = /^([^{]*)(?:\{(.*)\})?$/.exec(series) ?? [];
  return `${name}{${(labels.match(/[a-z_]+="(?:[^"\\]|\\.)*"/g) ?? []).sort().join(',')}}`;
}
