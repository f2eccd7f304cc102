import type { Random } from '../simulation/random.js';
import { monotonicMs, sleep } from '../support/monotonic.js';
import type { Field, Seat } from './field.js';
import { NEMESES } from './nemeses.js';
import type { Begun } from './nemesis.js';

export interface Plan {
  readonly random: Random;
  readonly forMs: number;
  /** Only these faults; all where left out. */
  readonly only?: readonly string[];
  /** How many at once, at most. */
  readonly atOnce: number;
}

/** Does one thing after another to the field, and undoes each in time. When it resolves, everything has been undone. */
export class Torment {
  readonly #field: Field;
  readonly #plan: Plan;
  readonly #busySeats = new Set<Seat>();
  readonly #busyServers = new Set<number>();
  readonly #under = new Set<Promise<void>>();
  #numbers = 0;

  constructor(field: Field, plan: Plan) {
    this.#field = field;
    this.#plan = plan;
  }

  async run(): Promise<void> {
    const { random, forMs, atOnce } = this.#plan;
    const names = this.#plan.only ?? Object.keys(NEMESES);
    const until = monotonicMs() + forMs;
    // Each kind once before any comes twice, in an order that the seed gives.
    let deck: string[] = [];
    while (monotonicMs() < until) {
      await sleep(random.between(100, this.#field.options.sessionTimeoutMs * 0.75));
      if (this.#under.size >= atOnce) continue;
      if (deck.length === 0) deck = random.shuffle([...names]);
      await this.#begin(deck.pop() as string, random.fork());
    }
    await Promise.all(this.#under);
  }

  async #begin(fault: string, random: Random): Promise<void> {
    const field = this.#field;
    const nemesis = NEMESES[fault];
    if (nemesis === undefined) throw new Error(`there is no fault ${fault}: ${Object.keys(NEMESES).join(', ')}`);
    const number = ++this.#numbers;
    const at = monotonicMs();
    const begun = await nemesis({
      field,
      random,
      victim: this.#victim(random),
      free: this.#freeServer(random),
      alone: this.#under.size === 0,
    });
    if (begun === undefined) return;
    const { on = [], stalls = false, server, detail = on.map(({ name }) => name).join(', ') } = begun;
    const note = (phase: 'begin' | 'end', when: number): void => {
      const whose = on.map(({ worker, name }) => worker?.who ?? name);
      field.happenings.push({ type: 'fault', phase, number, fault, on: whose, stalls, detail, at: when });
    };
    note('begin', at);
    for (const seat of on) this.#busySeats.add(seat);
    if (server !== undefined) this.#busyServers.add(server);
    const done = this.#end(begun).then(() => {
      note('end', monotonicMs());
      for (const seat of on) this.#busySeats.delete(seat);
      if (server !== undefined) this.#busyServers.delete(server);
    });
    this.#under.add(done);
    void done.finally(() => this.#under.delete(done));
  }

  async #end({ ms = 0, end }: Begun): Promise<void> {
    await sleep(ms);
    await end?.();
  }

  #victim(random: Random): Seat | undefined {
    const awake = this.#field.awake.filter((seat) => !this.#busySeats.has(seat));
    const { leader } = this.#field;
    const chosen = awake.length === 0 ? undefined : random.pick(awake);
    return random.chance(0.5) && leader !== undefined && awake.includes(leader) ? leader : chosen;
  }

  #freeServer(random: Random): number | undefined {
    const free = this.#field.hosts.map((_, index) => index).filter((index) => !this.#busyServers.has(index));
    // Mostly a minority: a quorum that is lost all the time tests nothing else.
    const minority = this.#busyServers.size < (this.#field.hosts.length - 1) / 2;
    return free.length === 0 || !(minority || random.chance(0.2)) ? undefined : random.pick(free);
  }
}
