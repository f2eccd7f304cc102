import { EventEmitter } from 'node:events';
import type { Election } from '../../src/election/election.js';
import type { TenureEvents } from '../../src/election/events.js';
import { type Host, type Logger, silentLogger } from '../../src/election/host.js';
import type { Term } from '../../src/election/term.js';
import { TenureError } from '../../src/errors.js';
import type { Cancel } from '../../src/lease/clock.js';
import { resolveConnectOptions } from '../../src/options.js';
import { Tenure } from '../../src/tenure.js';
import type { SimulatedClient } from './client.js';
import type { World } from './world.js';

/** Something a worker did to a resource that checks no token: the hardest test of the leases. */
export interface Act {
  readonly at: number;
  readonly who: string;
  readonly term: number;
  readonly token: bigint;
}

/** What a worker's host was told. */
export interface Told {
  readonly who: string;
  readonly event: keyof TenureEvents;
  readonly fields: object;
  readonly monotonic: number;
}

export interface FleetOptions {
  readonly election: string;
  readonly sessionTimeoutMs: number;
  readonly logger?: Logger;
  /** Replaces parts of the code under test: for the tests of the checker. */
  readonly assert?: (term: Term) => void;
  /** Told of each act as it is done. */
  readonly onAct?: (act: Act) => void;
  /** Told of what each worker's host is told, at what its monotonic clock says. */
  readonly onTold?: (told: Told) => void;
}

/** Worker processes that run the real election code in a simulated world; each acts as often as it may while it leads. */
export class Fleet {
  readonly acts: Act[] = [];
  readonly failures: string[] = [];
  readonly workers: { client: SimulatedClient; tenure: Tenure }[] = [];
  /** How often each kind of order to {@link order} was carried out. */
  readonly orders = new Map<string, number>();
  readonly #world: World;
  readonly #options: FleetOptions;
  readonly #told = new EventEmitter();
  #operator: Promise<Election> | null = null;
  #named = 0;

  constructor(world: World, options: FleetOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Starts a worker whose clocks run at `rate`; it campaigns for as long as it lives. */
  start(rate: number): void {
    const number = ++this.#named;
    const name = `w${number}`;
    const { client, tenure } = this.#process(name, number, rate, 0.3);
    this.workers.push({ client, tenure });
    void this.#run(client, tenure);
  }

  /**
   * Has an operator, at a process of its own, do something to the election. What it is refused for a good reason, or can't
   * do for want of a session, is no failure.
   */
  async order(what: string, act: (election: Election) => Promise<unknown>): Promise<void> {
    this.#operator ??= this.#operate();
    try {
      await act(await this.#operator);
      this.orders.set(what, (this.orders.get(what) ?? 0) + 1);
    } catch (error) {
      if (error instanceof TenureError && REFUSALS.has(error.code)) return;
      this.failures.push(`the operator's ${what} ended with ${error}`);
    }
  }

  #process(name: string, number: number, rate: number, newClientChance: number) {
    const { sessionTimeoutMs } = this.#options;
    // Every other one, so that both kinds of driver stand in one queue.
    const transactions = number % 2 === 0;
    const client = this.#world.process({ name, rate, newClientChance, sessionTimeoutMs, transactions });
    const events = new EventEmitter<{ [K in keyof TenureEvents]: [TenureEvents[K]] }>();
    let uuids = 0;
    const host: Host = {
      clock: client.clock,
      random: () => client.random(),
      uuid: () => `00000000-0000-4000-8000-${digits(number, 4)}${digits(++uuids, 8)}`,
      logger: this.#options.logger ?? silentLogger,
      emit: (event, fields) => {
        this.#world.record(name, event, fields);
        this.#options.onTold?.({ who: name, event, fields, monotonic: client.clock.monotonic() });
        this.#told.emit(`${name} ${event}`);
      },
    };
    const options = resolveConnectOptions({ servers: 'simulated', sessionTimeoutMs });
    return { client, tenure: new Tenure(client.driver, host, events, options, '') };
  }

  async #operate(): Promise<Election> {
    const { client, tenure } = this.#process('operator', 0, 1, 0);
    await started(client, tenure);
    return tenure.election(this.#options.election);
  }

  /** Calls back when this worker's host is told of such an event for the first time from now on, in the same turn. */
  once(client: SimulatedClient, event: keyof TenureEvents, listener: () => void): Cancel {
    const name = `${client.name} ${event}`;
    this.#told.once(name, listener);
    return () => this.#told.off(name, listener);
  }

  get alive() {
    return this.workers.filter(({ client }) => !client.dead);
  }

  async #run(client: SimulatedClient, tenure: Tenure): Promise<void> {
    await started(client, tenure);
    try {
      await tenure.election(this.#options.election, { id: client.name }).lead((term) => this.#work(client, term));
    } catch (error) {
      this.failures.push(`${client.name}: lead ended with ${error}`);
    }
  }

  /** Acts while it may. Asked to stop, it goes on for a while, as one that finishes what it has begun. */
  async #work(client: SimulatedClient, term: Term): Promise<void> {
    const act = () => this.#act(client, term);
    // At once when doubt ends: what comes in a moment later may say that it should not have ended.
    const stop = term.on('leading', act);
    let until = Number.POSITIVE_INFINITY;
    const toFinish = client.random() * FINISHING_MS;
    while (client.clock.monotonic() < until && term.state !== 'lost') {
      act();
      await new Promise<void>((resolve) => client.clock.after(20 + client.random() * 60, resolve));
      if (term.signal.aborted) until = Math.min(until, client.clock.monotonic() + toFinish);
    }
    stop();
  }

  #act(client: SimulatedClient, term: Term): void {
    try {
      (this.#options.assert ?? ((held: Term) => held.assert()))(term);
    } catch {
      // Suspect: no work now.
      return;
    }
    // Instantaneous: what a pause right here would do is what guards are for, and no lease can prevent.
    const act = { at: this.#world.now, who: client.name, term: term.number, token: term.token };
    this.acts.push(act);
    this.#options.onAct?.(act);
  }
}

/** How long a worker takes at most to finish what it has begun, by its own clock. */
export const FINISHING_MS = 400;

const REFUSALS: ReadonlySet<string> = new Set([
  'ALREADY_PAUSED',
  'NOT_PAUSED',
  'TRANSFER_REFUSED',
  'UNKNOWN_CANDIDATE',
  'UNKNOWN_ELECTION',
  'FLOOR_TOO_LOW',
  'COORDINATOR',
]);

async function started(client: SimulatedClient, tenure: Tenure): Promise<void> {
  for (;;) {
    try {
      await tenure.start();
      return;
    } catch {
      await new Promise<void>((resolve) => client.clock.after(500, resolve));
    }
  }
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
