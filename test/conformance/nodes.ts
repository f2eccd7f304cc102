import { expect } from 'vitest';
import { type Check, NOTHING, text } from './bench.js';

/** Nodes, their data and their stats. */
export function nodeChecks(check: Check): void {
  check('any bytes come back as they were', async ({ hand, root }) => {
    const every = Uint8Array.from({ length: 256 }, (_, i) => i);
    const large = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 31) % 256);
    for (const [i, data] of [every, NOTHING, large, Uint8Array.of(0), text('null')].entries()) {
      await hand.create(`${root}/${i}`, data, 'persistent');
      expect(Buffer.from((await hand.read(`${root}/${i}`))?.data ?? text('none')).equals(data)).toBe(true);
    }
    await hand.write(`${root}/0`, NOTHING, -1);
    const emptied = await hand.read(`${root}/0`);
    expect(emptied?.data).toBeInstanceOf(Uint8Array);
    expect(emptied?.data.length).toBe(0);
  });

  check('only the bytes of a view are stored, not those of its buffer', async ({ hand, root }) => {
    await hand.create(`${root}/n`, text('0123456789').subarray(3, 6), 'persistent');
    expect(Buffer.from((await hand.read(`${root}/n`))?.data ?? NOTHING).toString()).toBe('345');
  });

  check('names of any script are kept', async ({ hand, root }) => {
    const name = 'Wähler 候補者 %2F';
    expect(await hand.create(`${root}/${name}`, NOTHING, 'persistent')).toBe(`${root}/${name}`);
    expect((await hand.children(root))?.names).toEqual([name]);
  });

  check('what is absent reads as null', async ({ hand, root }) => {
    expect(await hand.read(`${root}/absent`)).toBeNull();
    expect(await hand.stat(`${root}/absent`)).toBeNull();
    expect(await hand.children(`${root}/absent`)).toBeNull();
    expect(await hand.children(`${root}/absent/deeper`, { watch: true })).toBeNull();
  });

  check('a node without children has an empty list of them', async ({ hand, root }) => {
    expect((await hand.children(root))?.names).toEqual([]);
  });

  check('sequential nodes get ten digits, ascending in the order of the calls, never one twice', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    const create = () => session.create(`${root}/c-`, NOTHING, 'ephemeral_sequential');
    const created = await Promise.all(Array.from({ length: 12 }, create));
    for (const path of created) expect(path.slice(root.length)).toMatch(/^\/c-[0-9]{10}$/);
    expect([...created].sort()).toEqual(created);
    for (const path of created) await hand.remove(path);
    const later = await create();
    expect(later > (created.at(-1) ?? '')).toBe(true);
    await hand.create(`${root}/plain`, NOTHING, 'persistent');
    expect((await create()) > later).toBe(true);
  });

  check("the parent's cversion bounds the numbers that were handed out", async (bench) => {
    const { hand, root } = bench;
    for (let i = 0; i < 5; i++) {
      const path = await hand.create(`${root}/c-`, NOTHING, 'ephemeral_sequential');
      const { cversion = -1 } = (await hand.stat(root)) ?? {};
      expect(cversion).toBeGreaterThan(Number(path.slice(-10)));
      if (i % 2 === 0) await hand.remove(path);
      expect((await hand.stat(root))?.cversion).toBe(cversion + (i % 2 === 0 ? 1 : 0));
    }
  });

  check('a stat tells the owner, the versions and the children', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    await session.create(`${root}/e`, NOTHING, 'ephemeral');
    const sequential = await session.create(`${root}/s-`, NOTHING, 'ephemeral_sequential');
    expect((await session.stat(`${root}/e`))?.owner).toBe(session.id);
    expect((await session.read(sequential))?.stat.owner).toBe(session.id);
    const stat = await session.stat(root);
    expect(stat).toMatchObject({ owner: null, children: 2, version: 0, cversion: 2 });
    expect((await session.children(root))?.stat).toEqual(stat);
    expect((await session.read(root))?.stat).toEqual(stat);
    const written = await hand.write(root, text('x'), 0);
    expect(written).toMatchObject({ owner: null, children: 2, version: 1, cversion: 2, czxid: stat?.czxid });
    expect(await hand.stat(root)).toEqual(written);
  });

  check('transaction ids are bigint and grow with every change, whoever makes it', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    let last = -1n;
    for (let i = 0; i < 6; i++) {
      const who = i % 2 === 0 ? hand : session;
      const path = await who.create(`${root}/c-`, NOTHING, 'ephemeral_sequential');
      const created = await who.stat(path);
      if (created === null) throw new Error('its creator does not see it');
      expect(created.czxid).toBeTypeOf('bigint');
      expect(created.czxid).toBeGreaterThan(last);
      expect(created.mzxid).toBe(created.czxid);
      const written = await who.write(path, text('x'), -1);
      expect(written.mzxid).toBeGreaterThan(written.czxid);
      last = written.mzxid;
    }
  });

  check('times are in milliseconds', async ({ hand, root }) => {
    const created = await hand.stat(root);
    const written = await hand.write(root, NOTHING, -1);
    expect(created?.ctime).toBeGreaterThan(Date.UTC(2020));
    expect(created?.mtime).toBe(created?.ctime);
    expect(written.ctime).toBe(created?.ctime);
    expect(written.mtime).toBeGreaterThanOrEqual(written.ctime);
    expect(written.mtime - written.ctime).toBeLessThan(60_000);
  });

  check('a write is a compare-and-set on the version', async ({ hand, root }) => {
    await expect(hand.write(root, text('a'), 1)).rejects.toMatchObject({ kind: 'bad_version' });
    expect(await hand.write(root, text('b'), 0)).toMatchObject({ version: 1 });
    await expect(hand.write(root, text('c'), 0)).rejects.toMatchObject({ kind: 'bad_version' });
    expect(await hand.write(root, text('d'), -1)).toMatchObject({ version: 2 });
    expect(Buffer.from((await hand.read(root))?.data ?? NOTHING).toString()).toBe('d');
  });

  check('of those who write over the same version, one wins', async (bench) => {
    const { root } = bench;
    const seats = await Promise.all([bench.seat(), bench.seat(), bench.seat()]);
    const outcomes = await Promise.allSettled(seats.map(({ session }) => session.write(root, text(session.id), 0)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  check('a removal can ask for a version', async ({ hand, root }) => {
    await hand.create(`${root}/n`, NOTHING, 'persistent');
    await hand.write(`${root}/n`, NOTHING, -1);
    await expect(hand.remove(`${root}/n`, 0)).rejects.toMatchObject({ kind: 'bad_version' });
    await hand.remove(`${root}/n`, 1);
    await hand.create(`${root}/n`, NOTHING, 'persistent');
    await hand.write(`${root}/n`, NOTHING, -1);
    await hand.remove(`${root}/n`);
    expect(await hand.stat(`${root}/n`)).toBeNull();
  });
}
