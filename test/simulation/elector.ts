import type { Random } from '../../src/verify/random.js';
import type { ToFollower, ToLeader } from './messages.js';
import type { Network } from './network.js';
import type { Voter, Votes } from './parts.js';
import type { Scheduler } from './scheduler.js';

/**
 * Settles who leads the ensemble, by what ZooKeeper's election comes to: servers that look for a
 * leader join one that they can reach; else a majority that can reach one another takes the one
 * with the newest epoch and log.
 */
export class Elector implements Votes {
  readonly #scheduler: Scheduler;
  readonly #network: Network;
  readonly #random: Random;
  readonly #servers: Voter[] = [];
  #epoch = 0n;
  #scheduled = false;
  #avoided: Voter | null = null;

  constructor(scheduler: Scheduler, network: Network, random: Random) {
    this.#scheduler = scheduler;
    this.#network = network;
    this.#random = random;
  }

  get majority(): number {
    return Math.floor(this.#servers.length / 2) + 1;
  }

  enrol(server: Voter): void {
    this.#servers.push(server);
  }

  /** Somebody else is to lead next, where the logs allow it. */
  avoid(server: Voter): void {
    this.#avoided = server;
  }

  /** Some server is looking: the votes take a while, and are cast again until nobody is. */
  consider(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#scheduler.after(this.#random.between(50, 400), () => {
      this.#scheduled = false;
      this.#join();
      this.#elect();
      if (this.#servers.some((server) => server.looking)) this.consider();
    });
  }

  #join(): void {
    for (const server of this.#servers) {
      if (!server.looking) continue;
      const leader = this.#servers.find((other) => other.leadership !== null && this.#reach(server, other));
      if (leader !== undefined) this.#follow(server, leader);
    }
  }

  #elect(): void {
    const looking = this.#random.shuffle(this.#servers.filter((server) => server.looking));
    for (const centre of looking) {
      const group = looking.filter((server) => server === centre || this.#reach(server, centre));
      const leader = group.reduce((best, server) => (this.#prefers(server, best) ? server : best), centre);
      const followers = group.filter((server) => server !== leader && this.#reach(server, leader));
      if (1 + followers.length < this.majority) continue;
      this.#epoch++;
      this.#avoided = null;
      leader.lead(this.#epoch);
      for (const follower of followers) this.#follow(follower, leader);
      return;
    }
  }

  /** ZooKeeper breaks ties by server id; here chance does, to see more. */
  #prefers(server: Voter, best: Voter): boolean {
    if (server.epoch !== best.epoch) return server.epoch > best.epoch;
    if (server.lastLogged !== best.lastLogged) return server.lastLogged > best.lastLogged;
    return best === this.#avoided;
  }

  #reach(a: Voter, b: Voter): boolean {
    return !this.#network.isCut(a, b) && !this.#network.isCut(b, a);
  }

  #follow(server: Voter, leader: Voter): void {
    const leadership = leader.leadership;
    if (leadership === null) return;
    const [here, there] = this.#network.connect<ToFollower, ToLeader>(server, leader);
    leadership.accept(server.id, there);
    server.follow(here);
  }
}
