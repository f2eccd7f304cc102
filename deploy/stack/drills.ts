import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../local/index.js';
import type { Stack } from './running.js';
import type { SeenTerm } from './standings.js';

type Say = (line: string) => void;

/** What goes wrong on purpose, so that somebody is paged. */
export class Drills {
  readonly #stack: Stack;
  readonly #say: Say;

  constructor(stack: Stack, say: Say = () => {}) {
    this.#stack = stack;
    this.#say = say;
  }

  /** Whether an alert is pending or firing, as Prometheus says. */
  async alerts(name: string, state: 'pending' | 'firing'): Promise<boolean> {
    return (await this.#stack.query(`ALERTS{alertname="${name}", alertstate="${state}"}`)).length > 0;
  }

  /**
   * Hands `settlement` over again and again until Prometheus finds that it changes leaders too often.
   *
   * @returns the last change
   */
  async frequentElections(): Promise<SeenTerm> {
    const { standings, pace } = this.#stack;
    let last = await standings.newLeader('settlement');
    this.#say('settlement is handed over, again and again');
    // One change for each scrape at most is seen.
    const everyMs = pace.scrapeSeconds * 1_200;
    for (let changes = 0; !(await this.#frequent()); changes++) {
      if (changes === 40) throw new Error('forty changes of the leader did not make FrequentElections pending');
      this.#stack.worker(last.leader).handOver();
      last = await standings.newLeader('settlement', last.term);
      this.#say(`${last.leader} leads settlement, term ${last.term}`);
      await sleep(everyMs);
    }
    return last;
  }

  async #frequent(): Promise<boolean> {
    return (await this.alerts('FrequentElections', 'pending')) || (await this.alerts('FrequentElections', 'firing'));
  }

  /** Freezes the leader of `settlement` for less than its lease: it is suspect for a moment, and goes on. */
  async pausedLeader(): Promise<void> {
    const { standings, pace } = this.#stack;
    const worker = this.#stack.worker((await standings.newLeader('settlement')).leader);
    worker.freeze();
    await sleep(pace.sessionTimeoutMs / 4);
    worker.thaw();
    this.#say(`${worker.name} stood still for ${pace.sessionTimeoutMs / 4} ms`);
  }

  /**
   * Freezes the leader of `settlement` until another one leads, and thaws it: its session has expired, and the write that it
   * wakes up with is refused.
   */
  async frozenLeader(): Promise<void> {
    const { standings } = this.#stack;
    const before = await standings.newLeader('settlement');
    const worker = this.#stack.worker(before.leader);
    this.#say(`${worker.name} is frozen`);
    worker.freeze();
    try {
      const { leader, term } = await standings.newLeader('settlement', before.term);
      this.#say(`${leader} leads settlement, term ${term}`);
      // Before it has written for the first time, an older token is as good as its own.
      const of = `{election_name="settlement", instance="${leader}"}`;
      const works = `leader_election_leader_status${of} == 1 unless leader_election_recovering${of} == 1`;
      await waitFor(async () => (await this.#stack.query(works)).length > 0, {
        what: `${leader} to have recovered`,
        intervalMs: 200,
      });
    } finally {
      worker.thaw();
    }
    this.#say(`${worker.name} goes on`);
    await waitFor(
      async () => (await this.#stack.query('leader_election_fence_checks_total{outcome="stale"} > 0')).length > 0,
      {
        what: 'a late write to be refused',
        intervalMs: 200,
      },
    );
    this.#say('its late write was refused');
  }

  /** Kills the ensemble's leader, and any other server. @returns when the quorum was gone, by `performance.now()` */
  async loseQuorum(): Promise<number> {
    const { ensemble } = this.#stack;
    const leader = await ensemble.waitForLeader();
    const follower = (await ensemble.followers())[0];
    await Promise.all([leader.kill(), follower?.kill()]);
    this.#say(`ZooKeeper servers ${leader.id} and ${follower?.id} are killed: the quorum is lost`);
    return performance.now();
  }

  /** Starts all servers that don't run, and waits until both elections have a leader again. */
  async restoreQuorum(): Promise<void> {
    const { ensemble } = this.#stack;
    await Promise.all(ensemble.servers.filter(({ running }) => !running).map((server) => server.start()));
    await ensemble.waitForQuorum(60_000);
    this.#say('the quorum is back');
    const led = 'leader_election_leader_status{election_name="settlement"} == 1';
    await waitFor(async () => (await this.#stack.query(led)).length > 0, {
      what: 'a leader of settlement',
      timeoutMs: 60_000,
      intervalMs: 200,
    });
    this.#say('settlement is led again');
  }
}
