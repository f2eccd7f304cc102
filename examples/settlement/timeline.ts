import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../deploy/local/index.js';
import { countSettled } from './books.js';
import type { Evidence } from './checks.js';
import type { TermStory } from './chronicle.js';
import { clock, duration } from './format.js';
import { moment } from './moment.js';
import type { Narrator } from './narrator.js';
import type { Stage } from './stage.js';

const PATIENCE_MS = 40_000;

/** What happens, act by act. Nothing here relies on an act's outcome but that somebody leads again in the end. */
export class Timeline {
  readonly #stage: Stage;
  readonly #narrator: Narrator;

  constructor(stage: Stage, narrator: Narrator) {
    this.#stage = stage;
    this.#narrator = narrator;
  }

  async play(): Promise<Evidence['outage']> {
    await this.#firstElection();
    await this.#killLeader();
    await this.#freezeLeader();
    await this.#killServer();
    const outage = await this.#takeQuorum();
    await this.#handOver();
    await this.#closeBooks();
    return outage;
  }

  async #firstElection(): Promise<void> {
    this.#narrator.act(
      'Three workers stand for election; the leader settles each second what arrived in the second before',
    );
    this.#stage.payments.start();
    await this.#leader();
    await this.#calm();
  }

  async #killLeader(): Promise<void> {
    const { chronicle, fleet } = this.#stage;
    this.#narrator.act('The leader is killed');
    const leader = await this.#leader();
    const victim = fleet.member(leader.worker);
    this.#narrator.say(`SIGKILL for ${victim.name}; its lifeline, a process of its own, ends its session`);
    const killed = victim.kill();
    chronicle.incident(leader.term, moment(), 'killed');
    await killed;
    await this.#successor(leader);
    this.#stage.relaunch(victim.name);
    this.#narrator.say(`${victim.name} is started again, and queues up behind the others`);
    await this.#calm();
  }

  async #freezeLeader(): Promise<void> {
    const { chronicle, fleet } = this.#stage;
    this.#narrator.act('The leader freezes between its check and its write, and comes back too late');
    const { leader, second } = await this.#frozen();
    const member = fleet.member(leader.worker);
    this.#narrator.say(
      `${member.name} has begun batch ${clock(second)} and checked its lease: SIGSTOP, right before the write`,
    );
    const next = await this.#successor(leader);
    await this.#until(`term ${next.term} to settle batch ${clock(second)}`, () =>
      chronicle.terms.some(({ term }) => term > leader.term && chronicle.hasSettled(term, second)),
    );
    this.#narrator.say(`${next.worker} has settled that batch in its stead`);
    this.#narrator.say(`SIGCONT for ${member.name}: it goes on with its write, and its old token ${leader.token}`);
    member.thaw();
    await this.#until(`${member.name} to have tried its write`, () => {
      const refused = chronicle.refusals.some(({ term }) => term === leader.term);
      return refused || chronicle.hasSettled(leader.term, second);
    });
    if (!chronicle.refusals.some(({ term }) => term === leader.term)) {
      this.#narrator.say(`nothing refused the write of ${member.name}`, 'red');
    }
    await this.#calm();
  }

  /** Asks the leader to freeze; again, should it lose its term before it gets to that. */
  async #frozen(): Promise<{ leader: TermStory; second: number }> {
    const { chronicle, fleet } = this.#stage;
    for (;;) {
      const leader = await this.#leader();
      fleet.member(leader.worker).tell({ do: 'freeze_before_write' });
      const frozen = await this.#until('the leader to freeze', () => {
        const found = chronicle.frozen.find(({ term }) => term === leader.term);
        return found ?? (leader.end !== null && 'lost');
      });
      if (frozen === 'lost') continue;
      chronicle.incident(leader.term, frozen.at, 'frozen');
      return { leader, second: frozen.second };
    }
  }

  async #killServer(): Promise<void> {
    const { ensemble } = this.#stage;
    this.#narrator.act("ZooKeeper's own leader is killed");
    const leader = await this.#leader();
    const server = await ensemble.waitForLeader();
    this.#narrator.say(`SIGKILL for ZooKeeper server ${server.id}, which leads the ensemble`);
    const killedAt = moment();
    await server.kill();
    const next = await ensemble.waitForLeader({ not: server, timeoutMs: PATIENCE_MS });
    this.#narrator.say(`server ${next.id} leads the ensemble after ${duration(moment() - killedAt)}`);
    await server.start();
    await this.#calm();
    const now = await this.#leader();
    if (now.term === leader.term) this.#narrator.say(`${now.worker} has kept its leadership: same term, same token`);
    await ensemble.waitForQuorum(PATIENCE_MS);
    this.#narrator.say(`server ${server.id} is back: three of three serve`);
  }

  async #takeQuorum(): Promise<Evidence['outage']> {
    const { ensemble, chronicle, pool, pace } = this.#stage;
    this.#narrator.act('Two of three ZooKeeper servers die: no quorum, so nobody may lead');
    const leader = await this.#leader();
    const kept = await ensemble.waitForLeader();
    const victims = ensemble.servers.filter((server) => server !== kept);
    this.#narrator.say(`SIGKILL for ZooKeeper servers ${victims.map(({ id }) => id).join(' and ')}`);
    await Promise.all(victims.map((server) => server.kill()));
    await this.#until('the leader to stop', () => chronicle.leading === undefined);
    const from = moment();
    const before = await countSettled(pool);
    await sleep(pace.outageMs);
    const after = await countSettled(pool);
    const until = moment();
    this.#narrator.say(
      `for ${duration(until - from)} nobody has led, and nothing was settled; payments keep coming in`,
    );
    await Promise.all(victims.map((server) => server.start()));
    this.#narrator.say('both servers are started again');
    const arrears = Math.floor(Date.now() / 1_000) - 1;
    const next = await this.#successor(leader);
    await this.#until(`term ${next.term} to catch up`, () => chronicle.lastSettled >= arrears);
    await ensemble.waitForQuorum(PATIENCE_MS);
    await this.#calm();
    return { from, until, before, after };
  }

  async #handOver(): Promise<void> {
    this.#narrator.act('The leader hands over in good order');
    const leader = await this.#leader();
    this.#stage.fleet.member(leader.worker).tell({ do: 'hand_over' });
    this.#narrator.say(`${leader.worker} is asked to hand over: it finishes what it does, then resigns`);
    await this.#successor(leader);
    await this.#calm();
  }

  async #closeBooks(): Promise<void> {
    const { payments, chronicle } = this.#stage;
    this.#narrator.act('The last payments are settled');
    const last = await payments.stop();
    await this.#until('the last payments to be settled', () => chronicle.lastSettled >= last);
  }

  #leader(): Promise<TermStory> {
    return this.#until('a leader', () => this.#stage.chronicle.leading);
  }

  #successor(story: TermStory): Promise<TermStory> {
    return this.#until(`a leader after term ${story.term}`, () => this.#stage.chronicle.successor(story.term));
  }

  /** Some batches of a new schedule, undisturbed. */
  async #calm(): Promise<void> {
    const { chronicle, pace } = this.#stage;
    const runs = chronicle.settled.length + pace.calmBatches;
    await this.#until('the next settlement', () => chronicle.settled.length >= runs);
  }

  #until<T>(what: string, probe: () => T | undefined | false): Promise<T> {
    return waitFor(
      () => {
        this.#stage.fleet.assertAlive();
        return probe();
      },
      { what, timeoutMs: PATIENCE_MS },
    );
  }
}
