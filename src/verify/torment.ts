import type { Arena, Seat } from './arena.js';
import type { Begun, Fault } from './fault.js';
import { monotonicMs, sleep } from './monotonic.js';
import type { Random } from './random.js';
import { type Planned, schedule } from './schedule.js';

export interface Plan {
  readonly random: Random;
  readonly forMs: number;
  /** How many at once, at most. */
  readonly atOnce: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** Does one thing after another to the field, and undoes each in time. When it resolves, everything has been undone. */
export class Torment<A extends Arena<S>, S extends Seat> {
  readonly #field: A;
  readonly #faults: Readonly<Record<string, Fault<A, S>>>;
  readonly #plan: Plan;
  readonly #busySeats = new Set<Seat>();
  readonly #busyServers = new Set<number>();
  readonly #under = new Set<Promise<void>>();
  #numbers = 0;

  constructor(field: A, faults: Readonly<Record<string, Fault<A, S>>>, plan: Plan) {
    this.#field = field;
    this.#faults = faults;
    this.#plan = plan;
  }

  async run(): Promise<void> {
    const { random, forMs, atOnce, signal } = this.#plan;
    const until = monotonicMs() + forMs;
    for (const planned of schedule(random, Object.keys(this.#faults), this.#field.sessionTimeoutMs * 0.75)) {
      await this.#pause(planned.pauseMs);
      while (this.#under.size >= atOnce) await Promise.race([...this.#under]);
      if (monotonicMs() >= until || signal?.aborted) break;
      await this.#begin(planned);
    }
    await Promise.all(this.#under);
  }

  async #begin({ fault, random }: Planned): Promise<void> {
    const field = this.#field;
    const number = ++this.#numbers;
    const at = monotonicMs();
    const victim = this.#victim(random);
    const free = this.#freeServer(random);
    const alone = this.#under.size === 0;
    const begun = await this.#faults[fault]?.({ field, random, victim, free, busy: this.#busyServers, alone });
    if (begun === undefined) return;
    const { on = [], stalls = false, server, detail = on.map(({ name }) => name).join(', ') } = begun;
    const whose = on.map(({ worker, name }) => worker?.who ?? name);
    const note = (phase: 'begin' | 'end', when: number): void => {
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
    await this.#pause(ms);
    await end?.();
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, this.#plan.signal);
  }

  #victim(random: Random): S | undefined {
    const awake = this.#field.awake.filter((seat) => !this.#busySeats.has(seat));
    const { leader } = this.#field;
    const chosen = awake.length === 0 ? undefined : random.pick(awake);
    return random.chance(0.5) && leader !== undefined && awake.includes(leader) ? leader : chosen;
  }

  #freeServer(random: Random): number | undefined {
    const { servers } = this.#field;
    const free = Array.from({ length: servers }, (_, index) => index).filter((index) => !this.#busyServers.has(index));
    // Mostly a minority: a quorum that is lost all the time tests nothing else.
    const minority = this.#busyServers.size < (servers - 1) / 2;
    return free.length === 0 || !(minority || random.chance(0.2)) ? undefined : random.pick(free);
  }
}
