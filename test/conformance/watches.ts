import { expect } from 'vitest';
import type { NodeChange, Session } from '../../src/election/port.js';
import { type Bench, type Check, changesOf, NOTHING, text } from './bench.js';

type Look = 'read' | 'stat' | 'children';
type Deed = 'create' | 'write' | 'remove' | 'add a child';

interface Watching {
  readonly look: Look;
  readonly at: 'present' | 'absent' | 'ephemeral';
  /** What is done to the node, and what the watcher hears of it in all. */
  readonly deeds: readonly Deed[];
  readonly heard: readonly NodeChange[];
}

const WATCHING: readonly Watching[] = [
  watching('read', 'present', ['write', 'write', 'remove'], ['changed']),
  watching('read', 'present', ['remove', 'create'], ['deleted']),
  watching('read', 'present', ['add a child', 'write'], ['changed']),
  watching('read', 'absent', ['create', 'write', 'remove'], []),
  watching('stat', 'present', ['write', 'write', 'remove'], ['changed']),
  watching('stat', 'present', ['remove', 'create'], ['deleted']),
  watching('stat', 'present', ['add a child', 'write'], ['changed']),
  watching('stat', 'absent', ['create', 'write', 'remove', 'create'], ['created']),
  watching('children', 'present', ['add a child', 'add a child', 'write'], ['children']),
  watching('children', 'present', ['write', 'add a child'], ['children']),
  watching('children', 'present', ['remove', 'create', 'add a child'], ['deleted']),
  watching('children', 'absent', ['create', 'add a child', 'write'], []),
  watching('children', 'ephemeral', ['write', 'write', 'remove', 'create'], ['deleted']),
];

function watching(look: Look, at: Watching['at'], deeds: readonly Deed[], heard: readonly NodeChange[]): Watching {
  return { look, at, deeds, heard };
}

async function act(session: Session, path: string, deed: Deed): Promise<void> {
  if (deed === 'create') await session.create(path, NOTHING, 'persistent');
  else if (deed === 'write') await session.write(path, text('x'), -1);
  else if (deed === 'remove') await removeWhole(session, path);
  else await session.create(`${path}/c-`, NOTHING, 'ephemeral_sequential');
}

async function removeWhole(session: Session, path: string): Promise<void> {
  for (const name of (await session.children(path))?.names ?? []) await session.remove(`${path}/${name}`);
  await session.remove(path);
}

/** A watcher on a server that has heard of everything so far. */
async function watcher(bench: Bench): Promise<Session> {
  const { session } = await bench.seat();
  await bench.barrier(session);
  return session;
}

/** One-shot watches: what leaves one, and what fires it. */
export function watchChecks(check: Check): void {
  for (const { look, at, deeds, heard } of WATCHING) {
    const told = heard.length === 0 ? 'nothing' : heard.join(', ');
    check(`a watching ${look}, ${at}: ${deeds.join(', ')} → ${told}`, async (bench) => {
      const path = `${bench.root}/n`;
      if (at !== 'absent') await bench.hand.create(path, NOTHING, at === 'ephemeral' ? 'ephemeral' : 'persistent');
      const session = await watcher(bench);
      const changes = changesOf(session, path);
      const found = await session[look](path, { watch: true });
      expect(found === null).toBe(at === 'absent');
      for (const deed of deeds) await act(bench.hand, path, deed);
      await bench.barrier(session);
      expect(changes).toEqual(heard);
    });
  }

  check('a look without a watch leaves none, nor does listening', async (bench) => {
    const { hand, root } = bench;
    const session = await watcher(bench);
    const changes = changesOf(session, root);
    await session.read(root);
    await session.stat(root, {});
    await session.children(root, { watch: false });
    await session.stat(`${root}/c`);
    for (const deed of ['write', 'add a child', 'write'] as const) await act(hand, root, deed);
    await bench.barrier(session);
    expect(changes).toEqual([]);
  });

  check('watches are per session', async (bench) => {
    const { hand, root } = bench;
    const watching = await watcher(bench);
    const other = await watcher(bench);
    const changes = [changesOf(watching, root), changesOf(other, root)];
    await watching.read(root, { watch: true });
    await hand.write(root, NOTHING, -1);
    await bench.barrier(watching);
    await bench.barrier(other);
    expect(changes).toEqual([['changed'], []]);
  });

  check('two looks of one session leave one watch, a deletion is told once, whatever watched', async (bench) => {
    const { hand, root } = bench;
    const path = `${root}/n`;
    await hand.create(path, NOTHING, 'persistent');
    const session = await watcher(bench);
    const changes = changesOf(session, path);
    await session.read(path, { watch: true });
    await session.stat(path, { watch: true });
    await hand.write(path, NOTHING, -1);
    await bench.barrier(session);
    expect(changes.splice(0)).toEqual(['changed']);
    for (const look of ['read', 'stat', 'children'] as const) await session[look](path, { watch: true });
    await hand.remove(path);
    await bench.barrier(session);
    expect(changes).toEqual(['deleted']);
  });

  check('a watch on the data and one on the children are two', async (bench) => {
    const { hand, root } = bench;
    const session = await watcher(bench);
    const changes = changesOf(session, root);
    await session.read(root, { watch: true });
    await session.children(root, { watch: true });
    await act(hand, root, 'add a child');
    await act(hand, root, 'write');
    await bench.barrier(session);
    expect(changes).toEqual(['children', 'changed']);
  });

  check('a watch can be left again from its own listener', async (bench) => {
    const { hand, root } = bench;
    const session = await watcher(bench);
    const versions: number[] = [];
    const look = async () => {
      const found = await session.stat(root, { watch: true });
      versions.push(found?.version ?? -1);
    };
    session.onNode(root, () => void look());
    await look();
    const before = versions[0] ?? 0;
    for (let i = 0; i < 5; i++) {
      await hand.write(root, NOTHING, -1);
      await bench.eventually('it was seen', () => versions.at(-1) === before + i + 1);
    }
    expect(versions).toEqual(Array.from({ length: 6 }, (_, i) => before + i));
  });

  check('every listener of a path is told, a cancelled one is not', async (bench) => {
    const { hand, root } = bench;
    const session = await watcher(bench);
    const told: string[] = [];
    const both = () => told.push('both');
    session.onNode(root, both);
    session.onNode(root, both);
    session.onNode(`${root}/other`, () => told.push('other path'));
    const cancel = session.onNode(root, () => told.push('cancelled'));
    cancel();
    cancel();
    await session.read(root, { watch: true });
    await hand.write(root, NOTHING, -1);
    await bench.barrier(session);
    expect(told).toEqual(['both', 'both']);
  });

  check('one object may listen to many paths, is told once for each, and no more when it has left', async (bench) => {
    const { hand, root } = bench;
    const session = await watcher(bench);
    const paths = ['a', 'b', 'c'].map((name) => `${root}/${name}`);
    const told: string[] = [];
    const listener = { changed: (path: string, change: NodeChange) => void told.push(`${path.at(-1)} ${change}`) };
    for (const path of paths) {
      await hand.create(path, NOTHING, 'persistent');
      session.listen(path, listener);
      session.listen(path, listener);
      session.onNode(path, (change) => told.push(`beside ${path.at(-1)} ${change}`));
    }
    session.unlisten(paths[1] ?? '', listener);
    session.unlisten(paths[1] ?? '', listener);
    await bench.barrier(session);
    for (const path of paths) await session.stat(path, { watch: true });
    for (const path of paths) await hand.write(path, NOTHING, -1);
    await bench.barrier(session);
    expect(told).toEqual(['a changed', 'beside a changed', 'beside b changed', 'c changed', 'beside c changed']);
  });

  check('a watch on an own ephemeral node fires when somebody deletes it', async (bench) => {
    const { hand, root } = bench;
    const session = await watcher(bench);
    const path = await session.create(`${root}/c-`, NOTHING, 'ephemeral_sequential');
    const changes = changesOf(session, path);
    await session.stat(path, { watch: true });
    await hand.remove(path);
    await bench.barrier(session);
    expect(changes).toEqual(['deleted']);
  });

  check("a watch fires when the node goes with its owner's session", async (bench) => {
    const { root } = bench;
    const owner = await watcher(bench);
    const path = await owner.create(`${root}/c-`, NOTHING, 'ephemeral_sequential');
    const session = await watcher(bench);
    const changes = [changesOf(session, path), changesOf(session, root)];
    await session.stat(path, { watch: true });
    await session.children(root, { watch: true });
    await owner.close();
    await bench.eventually('it was told', () => changes.every((heard) => heard.length > 0));
    expect(changes).toEqual([['deleted'], ['children']]);
  });
}
