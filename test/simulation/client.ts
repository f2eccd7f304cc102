import type { Clock } from '../../src/lease/clock.js';
import { type DriverOptions, SimulatedDriver } from './driver.js';
import type { Network } from './network.js';
import type { SimulatedProcess } from './process.js';
import type { Server } from './server.js';

/** One simulated client process: what the code under test is given, and what can be done to it. */
export class SimulatedClient {
  readonly name: string;
  readonly clock: Clock;
  readonly driver: SimulatedDriver;
  readonly #process: SimulatedProcess;
  readonly #network: Network;
  readonly #note: (what: string) => void;
  readonly #losingReply: Set<string>;

  constructor(
    process: SimulatedProcess,
    network: Network,
    servers: readonly Server[],
    options: DriverOptions,
    losingReply: Set<string>,
    note: (what: string) => void,
  ) {
    this.name = process.name;
    this.clock = process.clock;
    this.driver = new SimulatedDriver(process, network, servers, options);
    this.#process = process;
    this.#network = network;
    this.#losingReply = losingReply;
    this.#note = note;
  }

  /** What cuts and heals of the network take. */
  get host(): SimulatedProcess {
    return this.#process;
  }

  get dead(): boolean {
    return this.#process.dead;
  }

  get frozen(): boolean {
    return this.#process.frozen;
  }

  /** The server that its oldest live session is attached to, as far as it knows. */
  get server(): Server | null {
    return this.driver.sessions[0]?.server ?? null;
  }

  /** From 0 up to, not including, 1; by the world's seed. */
  random(): number {
    return this.#process.random.fraction();
  }

  /** Nothing of it runs, pings included; its clocks go on, and what arrives queues up. */
  freeze(): void {
    this.#note('is frozen');
    this.#process.freeze();
  }

  /** As {@link freeze}, and its monotonic clock stands still; its boot clock goes on. */
  suspend(): void {
    this.#note('is suspended');
    this.#process.suspend();
  }

  /** Ends either. What queued up runs, each as an event of its own, messages and timers interleaved by chance. */
  thaw(): void {
    this.#note('thaws');
    this.#process.thaw();
  }

  jumpWall(ms: number): void {
    this.#note(`sets its wall clock by ${ms} ms`);
    this.#process.clock.jumpWall(ms);
  }

  /** 1.05 is a clock that runs 5 % fast. */
  setRate(rate: number): void {
    this.#note(`runs at rate ${rate}`);
    this.#process.clock.setRate(rate);
  }

  /** SIGKILL: its promises never settle, its connections close, its session lives until the ensemble expires it. */
  kill(): void {
    this.#note('is killed');
    this.#process.die();
    this.#network.reset(this.#process, { local: false });
  }

  /** Breaks its connections; some of what was under way is lost. It reconnects by itself. */
  dropConnection(): void {
    this.#note('loses its connection');
    this.#network.reset(this.#process, { local: true });
  }

  /** The next write of each of its sessions that succeeds is applied, and then the connection breaks instead of its reply. */
  loseNextReply(): void {
    for (const { id } of this.driver.sessions) this.#losingReply.add(id);
  }
}
