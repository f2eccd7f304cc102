import { once } from 'node:events';
import { waitFor } from '../../../deploy/local/index.js';
import { connect, type Election, type Tenure } from '../../../src/index.js';

/** Workers of the elections that the examples of the command look at. */
export class Fleet implements AsyncDisposable {
  readonly #tenure: Tenure;
  readonly #stop = new AbortController();
  readonly #working: Promise<unknown>[] = [];

  private constructor(tenure: Tenure) {
    this.#tenure = tenure;
  }

  /** `settlement` has had a leader that resigned; worker-1 leads it, worker-2 waits. Nobody leads `abandoned` and `payments/tenant-7`. */
  static async at(servers: string): Promise<Fleet> {
    const fleet = new Fleet(await connect({ servers, sessionTimeoutMs: 30_000, driver: 'wire', lifeline: false }));
    for (const name of ['settlement', 'abandoned', 'payments/tenant-7']) {
      const term = await fleet.#tenure.election(name, { id: 'worker-0' }).campaign();
      await term.resign();
    }
    fleet.#work('worker-1');
    await fleet.#until(({ leader }) => leader?.id === 'worker-1');
    fleet.#work('worker-2');
    await fleet.#until(({ candidates }) => candidates.length === 2);
    return fleet;
  }

  get settlement(): Election {
    return this.#tenure.election('settlement');
  }

  /** The names of the znodes in the queue, in order. */
  async nodes(): Promise<string[]> {
    return (await this.settlement.current()).candidates.map(({ node }) => node);
  }

  /** Hands the leadership on to and fro, until this is disposed of. */
  handOnAndOn(): void {
    const signal = this.#stop.signal;
    const go = async () => {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        if (signal.aborted) return;
        const { candidates } = await this.settlement.current();
        const [, next] = candidates;
        if (next === undefined) continue;
        await this.settlement.transfer({ to: next.node, by: 'ann', reason: 'a drill' }).catch(() => undefined);
      }
    };
    this.#working.push(go());
  }

  #work(id: string): void {
    const lead = this.#tenure
      .election('settlement', { id })
      .lead((term) => once(term.signal, 'abort'), { signal: this.#stop.signal, again: true, cooldownMs: 0 });
    this.#working.push(lead.catch(() => undefined));
  }

  #until(like: (view: Awaited<ReturnType<Election['current']>>) => boolean): Promise<unknown> {
    return waitFor(async () => like(await this.settlement.current()), { what: 'the fleet to stand in its queue' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#working);
    await this.#tenure.close();
  }
}
