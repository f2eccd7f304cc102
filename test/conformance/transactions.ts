import { expect } from 'vitest';
import type { Session, TransactionPart } from '../../src/election/port.js';
import type { CoordinatorErrorKind } from '../../src/errors.js';
import { type Check, changesOf, NOTHING, refusal, text } from './bench.js';

interface Refused {
  readonly kind: CoordinatorErrorKind;
  readonly part: (root: string) => TransactionPart;
}

const REFUSED: readonly Refused[] = [
  { kind: 'no_node', part: (root) => ({ do: 'check', path: `${root}/absent` }) },
  { kind: 'bad_version', part: (root) => ({ do: 'check', path: `${root}/n`, version: 7 }) },
  { kind: 'bad_version', part: (root) => ({ do: 'write', path: `${root}/n`, data: NOTHING, version: 7 }) },
  { kind: 'no_node', part: (root) => ({ do: 'remove', path: `${root}/absent` }) },
  { kind: 'node_exists', part: (root) => ({ do: 'create', path: `${root}/n`, data: NOTHING, mode: 'ephemeral' }) },
];

function commit(session: Session, parts: readonly TransactionPart[]): Promise<void> {
  if (session.transaction === undefined) throw new Error('the driver knows no transactions');
  return session.transaction(parts);
}

/** All or nothing, for drivers that can. */
export function transactionChecks(check: Check): void {
  check('a transaction is applied whole, each part by what those before it have made', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    await commit(session, [
      { do: 'create', path: `${root}/n`, data: text('0'), mode: 'persistent' },
      { do: 'check', path: `${root}/n`, version: 0 },
      { do: 'write', path: `${root}/n`, data: text('1'), version: 0 },
      { do: 'create', path: `${root}/n/e`, data: NOTHING, mode: 'ephemeral' },
      { do: 'create', path: `${root}/s-`, data: NOTHING, mode: 'ephemeral_sequential' },
    ]);
    const [found, own] = await Promise.all([session.stat(`${root}/n`), session.stat(`${root}/n/e`)]);
    expect(found).toMatchObject({ version: 1, children: 1, owner: null });
    expect(own?.owner).toBe(session.id);
    expect(own?.czxid, 'one transaction').toBe(found?.mzxid);
    await commit(session, [
      { do: 'remove', path: `${root}/n/e` },
      { do: 'remove', path: `${root}/n`, version: 1 },
    ]);
    await bench.barrier(hand);
    expect(await hand.stat(`${root}/n`)).toBeNull();
  });

  for (const { kind, part } of REFUSED) {
    const { do: what, path } = part('');
    check(`nothing of it is applied where a part is refused: ${what} ${path}, ${kind}`, async ({ hand, root }) => {
      await hand.create(`${root}/n`, NOTHING, 'persistent');
      const before = await hand.stat(root);
      const refused = part(root);
      const error = await refusal(
        commit(hand, [
          { do: 'create', path: `${root}/first`, data: NOTHING, mode: 'persistent' },
          refused,
          { do: 'create', path: `${root}/last`, data: NOTHING, mode: 'persistent' },
        ]),
      );
      expect(error).toMatchObject({ kind, operation: what, path: refused.path, maybeApplied: false, retriable: false });
      expect(await hand.stat(root)).toEqual(before);
      expect(hand.state).toBe('connected');
    });
  }

  check('it keeps its place among the operations, and its changes are announced before its reply', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    await session.create(`${root}/n`, NOTHING, 'persistent');
    const log: string[] = [];
    session.onNode(`${root}/n`, (change) => log.push(change));
    await session.read(`${root}/n`, { watch: true });
    const parts: TransactionPart[] = [{ do: 'write', path: `${root}/n`, data: text('x'), version: -1 }];
    await Promise.all([
      session.stat(root).then(() => log.push('before')),
      commit(session, parts).then(() => log.push('transaction')),
      session.stat(root).then(() => log.push('after')),
    ]);
    expect(log).toEqual(['before', 'changed', 'transaction', 'after']);
  });

  check('others see all of it or nothing', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    for (const name of ['a', 'b']) await hand.create(`${root}/${name}`, NOTHING, 'persistent');
    await bench.barrier(session);
    const changes = [changesOf(session, `${root}/a`), changesOf(session, `${root}/b`)];
    await Promise.all(['a', 'b'].map((name) => session.stat(`${root}/${name}`, { watch: true })));
    await commit(
      hand,
      ['a', 'b'].map((name) => ({ do: 'write', path: `${root}/${name}`, data: text('x'), version: 0 })),
    );
    await bench.barrier(session);
    expect(changes).toEqual([['changed'], ['changed']]);
    const [a, b] = await Promise.all([session.stat(`${root}/a`), session.stat(`${root}/b`)]);
    expect(a?.mzxid).toBe(b?.mzxid);
  });

  check('a lost reply is reported as such, and it was applied', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat();
    await seat.loseNextReply();
    const error = await refusal(
      commit(seat.session, [{ do: 'create', path: `${root}/n`, data: NOTHING, mode: 'persistent' }]),
    );
    expect(error).toMatchObject({ operation: 'transaction', path: `${root}/n`, maybeApplied: true, retriable: true });
    await bench.eventually('it was applied', async () => (await hand.stat(`${root}/n`)) !== null);
  });

  check('one that can not be sent is refused, and the session goes on', async ({ hand, root }) => {
    const bad = await refusal(commit(hand, [{ do: 'check', path: `${root}/` }]));
    expect(bad).toMatchObject({ kind: 'invalid_argument', maybeApplied: false });
    expect(hand.state).toBe('connected');
  });
}
