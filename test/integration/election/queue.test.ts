import { describe, expect, it } from 'vitest';
import { startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { connect } from '../../../src/index.js';
import { OPERATION } from '../../../src/verify/faulty-line.js';
import { sleep } from '../../../src/verify/monotonic.js';
import { Contender, type ContenderOptions } from '../../support/contender.js';
import { expire } from '../../support/expire.js';
import { site } from '../../support/site.js';

/*
 * The place in the queue: one node for each candidate, owned by its present session, neither lost nor left behind. The numbers
 * are those of the field's list. 9, a sequence that runs out, takes two thousand million nodes: the simulation has it, and the
 * lagging server of 4, and the clock shift of 15.
 */

const T = 4_000;

const here = site({ tickTime: 500, fsync: false });
let count = 0;
const fresh = (): string => {
  count += 1;
  return `queue-${count}`;
};
const enter = (name: string, id: string, servers = here.ensemble.connectString): Promise<Contender> =>
  Contender.enter(servers, name, id, { sessionTimeoutMs: T });
/** For what is to survive a disconnect: a lease that the client's slowest reconnect, a third of T, doesn't use up. */
const LONG = { sessionTimeoutMs: 8_000 };

/** A candidate whose session can be ended, as an expiry would. */
async function mortal(name: string, id: string, options: ContenderOptions = {}) {
  const line = await here.lines.to(here.server);
  const contender = await Contender.enter(line.address, name, id, { sessionTimeoutMs: T, ...options });
  const expireSession = async (): Promise<void> => {
    const old = contender.tenure.session?.id as string;
    await expire(here.server, old, line);
    await waitFor(() => contender.tenure.session?.id !== old, { what: 'the expiry to be seen' });
  };
  return { contender, expireSession };
}

describe.concurrent('after an expiry', () => {
  it('the old term is over, and the candidate stands again with a node of its new session (1)', async () => {
    const name = fresh();
    const { contender: first, expireSession } = await mortal(name, 'first');
    const term = await first.leading();
    const second = await enter(name, 'second');
    await second.joined();
    const [old] = await here.operator.queue(name);
    await expireSession();
    expect(['session_expired', 'node_gone']).toContain(await first.lost(term));
    const heir = await second.leading();
    expect(heir.token).toBeGreaterThan(term.token);
    const queue = await here.operator.queueOf(name, 2);
    expect(queue[1]?.owner).toBe(first.tenure.session?.id);
    expect(queue.map(({ node }) => node)).not.toContain(old?.node);
    expect(term.state).toBe('lost');
    await Promise.all([first.stop(), second.stop()]);
  });

  it('a candidate whose session died while it waited does not wake as leader with its old node (8)', async () => {
    const name = fresh();
    const first = await enter(name, 'first');
    await first.leading();
    const { contender: second, expireSession } = await mortal(name, 'second');
    await second.joined();
    const stale = (await here.operator.queue(name))[1];
    const dead = second.tenure.session?.id;
    await Promise.all([expireSession(), first.stop()]);
    const term = await second.leading();
    const [present] = await here.operator.queueOf(name, 1);
    expect(present?.owner).toBe(second.tenure.session?.id);
    expect(present?.owner).not.toBe(dead);
    // The token is that of a node which exists; had it led with the dead one in between, that term would be on record.
    expect(term.token).toBe(present?.czxid);
    expect(term.token).not.toBe(stale?.czxid);
    await second.stop();
  });

  it('any number of losses leaves one candidacy and one worker at a time (12)', async () => {
    const name = fresh();
    let running = 0;
    let most = 0;
    // Alone, it waits out the lease of its own last term each time, which nobody announced as over.
    const { contender, expireSession } = await mortal(name, 'again', {
      sessionTimeoutMs: T / 4,
      work: async (term) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()));
        running -= 1;
      },
    });
    for (let loss = 1; loss <= 6; loss++) {
      await contender.leading(loss);
      await expireSession();
    }
    await contender.leading(7);
    expect(most).toBe(1);
    // On a busy machine so short a session may be lost by itself, too, even before its term has begun.
    const numbers = contender.terms.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThanOrEqual(7);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    await here.operator.queueOf(name, 1);
    await contender.stop();
    await here.operator.queueOf(name, 0);
  });
});

describe.concurrent('over disconnects', () => {
  it('waiting and leading nodes stay as they are: nothing is reset (2)', async () => {
    const name = fresh();
    const line = await here.lines.to(here.server);
    const first = await Contender.enter(line.address, name, 'first', LONG);
    await first.leading();
    const second = await Contender.enter(line.address, name, 'second', LONG);
    await second.joined();
    const before = await here.operator.queueOf(name, 2);
    for (let cut = 1; cut <= 3; cut++) {
      await line.drop();
      await waitFor(() => first.count('suspect') >= cut && first.leads, { what: 'the leader to be sure again' });
    }
    expect(await here.operator.queue(name)).toEqual(before);
    expect([first.count('joined'), second.count('joined')]).toEqual([1, 1]);
    await Promise.all([first.stop(), second.stop()]);
    await line.close();
  });

  it('a resignation while disconnected leaves no ghost when the same session returns (3)', async () => {
    const name = fresh();
    const line = await here.lines.to(here.server);
    const first = await connect({ servers: line.address, ...LONG });
    const term = await first.election(name, { id: 'first' }).campaign();
    const second = await enter(name, 'second');
    await second.joined();
    const session = first.session?.id;
    await line.refuse();
    await waitFor(() => term.state === 'suspect', { what: 'the disconnect to be seen' });
    const resigned = term.resign();
    expect(term.state).toBe('lost');
    await sleep(300);
    await line.mend();
    await resigned;
    expect(first.session?.id).toBe(session);
    const queue = await here.operator.queueOf(name, 1);
    expect(queue[0]?.owner).toBe(second.tenure.session?.id);
    await second.leading();
    await Promise.all([first.close(), second.stop()]);
    await line.close();
  });

  it('a create whose reply is lost leaves one node, the earlier one (4)', async () => {
    const name = fresh();
    const line = await here.lines.to(here.server);
    const blocker = await enter(name, 'blocker');
    await blocker.leading();
    // Its session and its connection first, so that the create of its node is what gets lost.
    const tenure = await connect({ servers: line.address, ...LONG });
    const lost = line.loseReply(OPERATION.create, `${name}/queue/_c_`);
    const campaign = tenure.election(name, { id: 'twice' }).campaign();
    await lost;
    const [, orphan] = await here.operator.queueOf(name, 2);
    await waitFor(async () => ((await line.traffic()).operations[OPERATION.create] ?? 0) >= 2, {
      what: 'a second create',
    });
    await sleep(300);
    const queue = await here.operator.queueOf(name, 2);
    expect(queue[1]).toEqual(orphan);
    await blocker.stop();
    const term = await campaign;
    expect(term.token).toBe(orphan?.czxid);
    await tenure.close();
    await here.operator.queueOf(name, 0);
    await line.close();
  });

  it('a candidate whose predecessor went while it was disconnected leads when it returns (15)', async () => {
    const name = fresh();
    const line = await here.lines.to(here.server);
    const first = await enter(name, 'first');
    await first.leading();
    const second = await Contender.enter(line.address, name, 'second', LONG);
    await second.joined();
    await line.refuse();
    await first.stop();
    await line.mend();
    expect((await second.leading()).previous?.end).toBe('resigned');
    await second.stop();
    await line.close();
  });

  it('a rolling restart of all servers keeps the session, the node and the term (16)', async () => {
    const own = await startEnsemble({ tickTime: 500, fsync: false });
    const contender = await Contender.enter(own.connectString, 'rolling', 'one', { sessionTimeoutMs: 10_000 });
    const term = await contender.leading();
    const session = contender.tenure.session?.id;
    const followers = await own.followers();
    for (const follower of followers) await follower.restart();
    await waitFor(() => term.state === 'leading', { what: 'the term to go on' });
    expect(contender.tenure.session?.id).toBe(session);
    expect(contender.terms).toHaveLength(1);
    await contender.stop();
    await own.close();
  });
});

describe.concurrent('a queue in motion', () => {
  it('candidates that come and go leave no one behind and no watch on what is gone (10)', async () => {
    const name = fresh();
    const tenure = await connect({ servers: here.ensemble.connectString, sessionTimeoutMs: 8_000 });
    const led: number[] = [];
    const one = async (index: number): Promise<void> => {
      const giveUp = new AbortController();
      if (index % 3 > 0) setTimeout(() => giveUp.abort(), (index * 7919) % 400);
      const lead = tenure.election(name, { id: `c${index}` }).lead(() => led.push(index), { signal: giveUp.signal });
      await lead.catch(() => {});
    };
    await Promise.all(Array.from({ length: 60 }, (_, index) => one(index)));
    expect(led.filter((index) => index % 3 === 0)).toHaveLength(20);
    await here.operator.queueOf(name, 0);
    const watches = await Promise.all(here.ensemble.servers.map((each) => each.ask('wchp')));
    expect(watches.join('')).not.toContain(`${here.operator.queuePath(name)}/`);
    await tenure.close();
  });

  it('two elections of one name in one process are two candidates, and hand over in order', async () => {
    const name = fresh();
    const tenure = await connect({ servers: here.ensemble.connectString, sessionTimeoutMs: T });
    const elections = ['a', 'b', 'c'].map((id) => tenure.election(name, { id }));
    const terms = elections.map((election) => election.campaign());
    const order: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const term = await Promise.race(terms.filter((_, index) => !order.includes('abc'[index] as string)));
      order.push(term.leaderId);
      expect(term.number).toBe(turn + 1);
      await sleep(50);
      await term.resign();
    }
    expect(order.toSorted()).toEqual(['a', 'b', 'c']);
    await here.operator.queueOf(name, 0);
    await tenure.close();
  });

  it('foreign children are waited for where they have a number, and passed over where they have none', async () => {
    const name = fresh();
    const queue = here.operator.queuePath(name);
    for (const path of [`${here.operator.root}`, `${here.operator.root}/${name}`, queue]) {
      await here.operator.session.create(path, new Uint8Array(), 'persistent').catch(() => {});
    }
    await here.operator.session.create(`${queue}/stray`, Buffer.from('not a candidate'), 'persistent');
    await here.operator.session.create(`${queue}/_c_half-a-name-lock-12`, new Uint8Array(), 'persistent');
    const binary = Buffer.from([0, 255, 254, 1, 128, 10, 27]);
    const foreign = await here.operator.session.create(`${queue}/weird \u00e4\u4e2d-`, binary, 'ephemeral_sequential');
    const contender = await enter(name, 'ours');
    await contender.joined();
    await sleep(200);
    expect(contender.leads).toBe(false);
    const view = await contender.election.current();
    expect(view.leader).toMatchObject({ foreign: true, term: null });
    expect(view.candidates.map(({ data }) => data?.id)).toEqual([undefined, 'ours']);
    await here.operator.session.write(foreign, Buffer.alloc(0), -1);
    await here.operator.remove(foreign);
    const term = await contender.leading();
    expect(term.number).toBe(1);
    // What is in our own node is for showing only.
    const [own] = await here.operator.queue(name);
    await here.operator.session.write(`${queue}/${own?.node}`, binary, -1);
    await sleep(100);
    expect(() => term.assert()).not.toThrow();
    await contender.stop();
  });
});

describe.concurrent('where nothing is there yet', () => {
  it('chroot, root and parents are made, also by many at once (16)', async () => {
    const servers = `${here.ensemble.connectString}/no/such/chroot`;
    const contenders = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) =>
        Contender.enter(servers, 'deep/er/name', id, { sessionTimeoutMs: T, root: '/some/root', work: () => {} }),
      ),
    );
    await Promise.all(contenders.map(({ outcome }) => outcome));
    expect(contenders.flatMap(({ terms }) => terms.map(({ number }) => number)).toSorted()).toEqual([1, 2, 3, 4]);
    const queue = '/no/such/chroot/some/root/deep/er/name/queue';
    expect((await here.operator.session.children(queue))?.names).toEqual([]);
    await Promise.all(contenders.map((contender) => contender.stop()));
  });

  it('a queue that lies elsewhere is led, although nothing has made the place of the record yet', async () => {
    const name = fresh();
    const contender = await Contender.enter(here.ensemble.connectString, `els/ewhere/${name}`, 'guest', {
      sessionTimeoutMs: T,
      election: { queuePath: `/legacy/${name}` },
    });
    const term = await contender.leading();
    expect(term.number).toBe(1);
    expect((await here.operator.session.children(`/legacy/${name}`))?.names).toHaveLength(1);
    expect(await here.operator.record(`els/ewhere/${name}`)).toMatchObject({ term: 1, leaderId: 'guest' });
    await contender.stop();
  });

  it('the queue or the whole election deleted by hand is made again, and the leader knows', async () => {
    const name = fresh();
    const contender = await enter(name, 'one');
    const term = await contender.leading();
    const [own] = await here.operator.queue(name);
    await here.operator.remove(`${here.operator.queuePath(name)}/${own?.node}`);
    await here.operator.remove(here.operator.termPath(name));
    await here.operator.remove(here.operator.queuePath(name)).catch(() => {});
    expect(['node_gone', 'superseded']).toContain(await contender.lost(term));
    const again = await contender.leading(2);
    expect(again.token).toBeGreaterThan(term.token);
    await contender.stop();
  });

  it('a term record that is deleted by hand does not keep the successor from leading', async () => {
    const name = fresh();
    const first = await enter(name, 'first');
    const term = await first.leading();
    const second = await enter(name, 'second');
    await here.operator.queueOf(name, 2);
    await here.operator.remove(here.operator.termPath(name));
    expect(await first.lost(term)).toBe('superseded');
    expect((await second.leading(1)).token).toBeGreaterThan(term.token);
    await Promise.all([first.stop(), second.stop()]);
  });
});
