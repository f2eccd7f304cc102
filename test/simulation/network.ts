import type { Random } from '../../src/verify/random.js';
import type { Scheduler } from './scheduler.js';

/** A machine or process that sends and receives. */
export interface Host {
  readonly name: string;
  /** Runs the handler of something that arrived. */
  run(task: () => void): void;
}

/** How long messages take, in milliseconds: usually `low` to `high`, now and then up to `spike`. */
export interface Delays {
  readonly low: number;
  readonly high: number;
  readonly spike: number;
  readonly spikeChance: number;
}

interface Parcel<M> {
  readonly readyAt: number;
  /** Null is the end of the stream. */
  readonly message: M | null;
  /** Noticed on this side of whatever is cut. */
  readonly local: boolean;
}

/**
 * One end of a connection that behaves as TCP does: in each direction nothing is lost, repeated or
 * overtaken; while the two hosts are cut off from one another everything waits; a close reaches the
 * other end after what was sent before it. Only {@link reset} loses what is under way.
 */
export class Endpoint<In, Out> {
  readonly host: Host;
  onMessage: (message: In) => void = () => {};
  onClose: () => void = () => {};
  readonly #network: Network;
  readonly #queue: Parcel<In>[] = [];
  #peer: Endpoint<Out, In> | undefined;
  #lastReady = 0;
  #pumping = false;
  #closed = false;
  #severed = false;

  constructor(network: Network, host: Host) {
    this.#network = network;
    this.host = host;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get peer(): Endpoint<Out, In> {
    if (this.#peer === undefined) throw new Error('an endpoint without its other end');
    return this.#peer;
  }

  join(peer: Endpoint<Out, In>): void {
    this.#peer = peer;
  }

  send(message: Out): void {
    if (!this.#closed && !this.#severed) this.peer.#enqueue(message);
  }

  /** What was sent before still arrives; nothing more is received here. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.length = 0;
    this.#network.forget(this);
    if (!this.#severed) this.peer.#enqueue(null);
  }

  /**
   * The connection breaks, and some of what was under way is lost. Both ends see it close: at once even where they are cut
   * off from one another, if `local`, else when the other's silence ends.
   */
  reset(local: boolean): void {
    this.#sever(local);
    this.peer.#sever(local);
  }

  /** Goes on delivering after a cut has been healed. */
  resume(): void {
    this.#pump();
  }

  #sever(local: boolean): void {
    if (this.#severed) return;
    this.#severed = true;
    const cut = this.#network.isCut(this.peer.host, this.host);
    this.#queue.length = local && cut ? 0 : this.#network.random.below(this.#queue.length + 1);
    this.#enqueue(null, local);
  }

  #enqueue(message: In | null, local = false): void {
    if (this.#closed) return;
    this.#lastReady = Math.max(
      this.#lastReady,
      this.#network.scheduler.now + this.#network.delay() + this.#network.lag(this.peer.host, this.host),
    );
    this.#queue.push({ readyAt: this.#lastReady, message, local });
    this.#pump();
  }

  #pump(): void {
    const head = this.#queue[0];
    if (this.#pumping || head === undefined) return;
    this.#pumping = true;
    this.#network.scheduler.at(head.readyAt, () => {
      this.#pumping = false;
      const parcel = this.#queue[0];
      if (this.#closed || parcel === undefined) return;
      // Cut off: stays queued until the network calls resume().
      if (!parcel.local && this.#network.isCut(this.peer.host, this.host)) return;
      this.#queue.shift();
      this.#pump();
      this.host.run(() => this.#deliver(parcel));
    });
  }

  #deliver(parcel: Parcel<In>): void {
    if (this.#closed) return;
    if (parcel.message !== null) {
      this.onMessage(parcel.message);
      return;
    }
    this.#closed = true;
    this.#network.forget(this);
    this.onClose();
  }
}

type AnyEndpoint = Pick<Endpoint<never, never>, 'host' | 'reset' | 'resume'>;

/** Who can reach whom, and every open connection. */
export class Network {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly #delays: Delays;
  readonly #cuts = new Set<string>();
  readonly #lags = new Map<string, number>();
  readonly #open = new Set<AnyEndpoint>();

  constructor(scheduler: Scheduler, random: Random, delays: Delays) {
    this.scheduler = scheduler;
    this.random = random;
    this.#delays = delays;
  }

  /** @returns the two ends: the first host's, then the second's */
  connect<ToA, ToB>(a: Host, b: Host): [Endpoint<ToA, ToB>, Endpoint<ToB, ToA>] {
    const here = new Endpoint<ToA, ToB>(this, a);
    const there = new Endpoint<ToB, ToA>(this, b);
    here.join(there);
    there.join(here);
    this.#open.add(here);
    this.#open.add(there);
    return [here, there];
  }

  forget(endpoint: AnyEndpoint): void {
    this.#open.delete(endpoint);
  }

  delay(): number {
    const { low, high, spike, spikeChance } = this.#delays;
    return this.random.chance(spikeChance) ? this.random.between(high, spike) : this.random.between(low, high);
  }

  /** What a message takes that way on top of its usual delay. */
  lag(from: Host, to: Host): number {
    return this.#lags.get(way(from, to)) ?? 0;
  }

  slow(from: Host, to: Host, byMs: number): void {
    this.#lags.set(way(from, to), byMs);
  }

  isCut(from: Host, to: Host): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(way(from, to));
  }

  /** Nothing passes that way until healed; what is sent meanwhile waits, as TCP would retransmit it. */
  cut(from: Host, to: Host): void {
    this.#cuts.add(way(from, to));
  }

  /** Both ways, and both as quick as ever. */
  heal(a: Host, b: Host): void {
    this.#lags.delete(way(a, b));
    this.#lags.delete(way(b, a));
    this.#cuts.delete(way(a, b));
    this.#cuts.delete(way(b, a));
    for (const endpoint of this.#open) endpoint.resume();
  }

  healAll(): void {
    this.#cuts.clear();
    this.#lags.clear();
    for (const endpoint of this.#open) endpoint.resume();
  }

  /** Breaks every connection of the host. */
  reset(host: Host, { local }: { local: boolean }): void {
    for (const endpoint of [...this.#open]) if (endpoint.host === host) endpoint.reset(local);
  }
}

function way(from: Host, to: Host): string {
  return `${from.name} ${to.name}`;
}
