import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import type { WireSession } from '../../../src/zookeeper/wire/session.js';
import { nextState } from '../../support/driver-tests.js';
import { eachVersion } from '../../support/versions.js';
import { Relay } from '../native/relay.js';
import { bytes, closeAll, freshPath, open, refusal } from './support.js';

eachVersion([], (versioned) => {
  let ensemble: Ensemble;
  let address: string;
  let session: WireSession;

  beforeAll(async () => {
    ensemble = await startEnsemble({
      size: 1,
      tickTime: 500,
      ...versioned,
      javaOptions: ['-Dzookeeper.extendedTypesEnabled=true', '-Dznode.container.checkIntervalMs=200'],
    });
    address = ensemble.connectString;
    session = await open(address);
  }, 120_000);

  afterAll(async () => {
    await closeAll();
    await ensemble?.close();
  });

  it('makes nodes of every kind', async () => {
    const root = freshPath();
    await session.create(root, bytes(''), 'persistent');
    const made = await session.createNode(`${root}/s-`, bytes('x'), 'persistent_sequential');
    expect(made.path).toBe(`${root}/s-0000000000`);
    expect(made.stat).toEqual(await session.stat(made.path));
    expect(made.stat.owner).toBeNull();
    expect((await session.createNode(`${root}/c`, bytes(''), 'container')).stat.owner).toBeNull();
    const ttl = await session.createNode(`${root}/t-`, bytes(''), { ttlMs: 60_000, sequential: true });
    expect(ttl.path).toMatch(/\/t-\d{10}$/);
    expect((await session.stat(ttl.path))?.owner).toBeNull();
    const own = await session.createNode(`${root}/e`, bytes(''), 'ephemeral');
    expect(own.stat.owner).toBe(session.id);
  });

  it('leaves a node with a time to live to the server, which removes it', async () => {
    const path = freshPath();
    await session.createNode(path, bytes(''), { ttlMs: 300, sequential: false });
    await waitFor(async () => (await session.stat(path)) === null, { what: 'the node to go', timeoutMs: 20_000 });
  });

  it('applies a transaction whole', async () => {
    const root = freshPath();
    await session.create(root, bytes('0'), 'persistent');
    await session.transaction([
      { do: 'check', path: root, version: 0 },
      { do: 'write', path: root, data: bytes('1'), version: 0 },
      { do: 'create', path: `${root}/e`, data: bytes('e'), mode: 'ephemeral' },
      { do: 'create', path: `${root}/s-`, data: bytes('s'), mode: 'ephemeral_sequential' },
    ]);
    expect(await session.stat(root)).toMatchObject({ version: 1, children: 2 });
    const both = await Promise.all([session.stat(root), session.stat(`${root}/e`)]);
    expect(both[0]?.mzxid, 'one transaction').toBe(both[1]?.czxid);
    await session.transaction([
      { do: 'remove', path: `${root}/e` },
      { do: 'write', path: root, data: bytes('2'), version: -1 },
    ]);
    expect(await session.stat(`${root}/e`)).toBeNull();
  });

  it.each([
    ['bad_version', 'write', '/n'],
    ['bad_version', 'check', '/n'],
    ['no_node', 'check', '/absent'],
    ['no_node', 'remove', '/absent'],
    ['node_exists', 'create', '/n'],
  ] as const)('applies nothing of a transaction with a part that is refused: %s %s %s', async (kind, what, where) => {
    const root = freshPath();
    await session.create(root, bytes(''), 'persistent');
    await session.create(`${root}/n`, bytes(''), 'persistent');
    const path = root + where;
    const parts = {
      write: { do: 'write', path, data: bytes('x'), version: 3 },
      check: { do: 'check', path, version: 3 },
      remove: { do: 'remove', path },
      create: { do: 'create', path, data: bytes(''), mode: 'ephemeral' },
    } as const;
    const error = await refusal(
      session.transaction([
        { do: 'write', path: root, data: bytes('first'), version: 0 },
        parts[what],
        { do: 'create', path: `${root}/last`, data: bytes(''), mode: 'persistent' },
      ]),
    );
    expect(error).toMatchObject({ kind, operation: what, path, maybeApplied: false, retriable: false });
    expect(error.message).toMatch(/ZooKeeper's code -\d+/);
    expect(await session.stat(root)).toMatchObject({ version: 0, children: 1 });
  });

  it('refuses a transaction that is empty, or too long for the servers, before it is sent', async () => {
    expect(await refusal(session.transaction([]))).toMatchObject({ kind: 'invalid_argument' });
    const half = { do: 'write', path: '/', data: Buffer.alloc(600_000), version: -1 } as const;
    expect(await refusal(session.transaction([half, half]))).toMatchObject({ kind: 'too_large', maybeApplied: false });
    expect(session.state).toBe('connected');
  });

  it('keeps nodes to their maker by an ACL at their creation', async () => {
    const acl = [{ scheme: 'auth', id: '', permissions: 31 }];
    const auth = [{ scheme: 'digest', credential: 'worker:secret' }];
    const owner = await open(address, { acl, auth });
    const path = freshPath();
    await owner.create(path, bytes('private'), 'persistent');
    expect(await refusal(session.read(path))).toMatchObject({ kind: 'no_auth', operation: 'read', path });
    expect(await refusal(session.transaction([{ do: 'write', path, data: bytes(''), version: -1 }]))).toMatchObject({
      kind: 'no_auth',
    });
    expect(Buffer.from((await owner.read(path))?.data ?? []).toString()).toBe('private');
    const other = await open(address, { auth });
    expect(await other.read(path)).not.toBeNull();
    expect(await other.whoAmI()).toContainEqual(expect.objectContaining({ scheme: 'digest' }));
    // Nobody is meant by "auth" where nobody has said who he is.
    const nobody = await open(address, { acl });
    expect(await refusal(nobody.create(freshPath(), bytes(''), 'persistent'))).toMatchObject({
      kind: 'invalid_argument',
    });
  });

  it('keeps persistent watches over a reconnect, until they are taken back', async () => {
    const relay = await Relay.listen({ port: 0, targetPort: Number(address.split(':')[1]) });
    const watching = await open(`127.0.0.1:${relay.port}`);
    const root = freshPath();
    await session.create(root, bytes(''), 'persistent');
    const heard: string[] = [];
    watching.onAnyNode(({ path, change }) => heard.push(`${change} ${path.slice(root.length)}`));
    await watching.watch(root, { recursive: true });
    const act = async (name: string) => {
      await session.create(`${root}/${name}`, bytes(''), 'persistent');
      await session.write(`${root}/${name}`, bytes('x'), -1);
      await watching.write('/', bytes(''), -1);
    };
    await act('a');
    expect(heard.splice(0)).toEqual(['created /a', 'changed /a']);
    const down = nextState(watching, 'disconnected');
    relay.drop();
    await down;
    await nextState(watching, 'connected');
    // By its reply the server has the watch again.
    await watching.write('/', bytes(''), -1);
    await act('b');
    expect(heard.splice(0)).toEqual(['created /b', 'changed /b']);
    await watching.unwatch(root);
    await act('c');
    expect(heard).toEqual([]);
    expect(await refusal(watching.unwatch(root))).toMatchObject({ operation: 'unwatch', path: root });
    await watching.close();
    await relay.close();
  });

  it('tells the configuration, and whom the server takes us for', async () => {
    expect(await session.config()).not.toBeNull();
    expect(await session.whoAmI()).toEqual([{ scheme: 'ip', id: '127.0.0.1' }]);
  });

  it('says in each error the code, the operation, the path, and what may have been applied', async () => {
    const path = `${freshPath()}/absent`;
    const error = await refusal(session.write(path, bytes(''), -1));
    expect(error.message).toBe(`write ${path}: no node (ZooKeeper's code -101)`);
    expect(error).toMatchObject({ kind: 'no_node', operation: 'write', path, maybeApplied: false });
  });

  it('keeps a limit of its own on replies, which ends the connection and not the session', async () => {
    const path = freshPath();
    await session.create(path, Buffer.alloc(100_000), 'persistent');
    const frugal = await open(address, { maxReplyBytes: 50_000 });
    expect(await refusal(frugal.read(path))).toMatchObject({ kind: 'connection_lost', maybeApplied: true });
    await nextState(frugal, 'connected');
    expect(await frugal.stat(path)).not.toBeNull();
  });

  it('sends requests up to the limit of servers that were given another one', async () => {
    expect(await refusal(session.write('/', Buffer.alloc(1_100_000), -1))).toMatchObject({ kind: 'too_large' });
    const small = await open(address, { maxRequestBytes: 2_000 });
    expect(await refusal(small.write('/', Buffer.alloc(1_000), -1))).toMatchObject({ kind: 'too_large' });
    await small.write('/', Buffer.alloc(900), -1);
  });

  it('sends what the data was when the operation was called', async () => {
    const data = bytes('before');
    const path = freshPath();
    const created = session.create(path, data, 'persistent');
    data.fill('x');
    await created;
    expect(Buffer.from((await session.read(path))?.data ?? []).toString()).toBe('before');
  });
});
