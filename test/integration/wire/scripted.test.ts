import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OP, XID } from '../../../src/zookeeper/wire/codes.js';
import { FrameReader } from '../../../src/zookeeper/wire/frames.js';
import { JuteReader, JuteWriter } from '../../../src/zookeeper/wire/jute.js';
import { connectReply, event, reply } from '../../fuzz/replies.js';
import { nextState } from '../../support/driver-tests.js';
import { bytes, closeAll, open, refusal, sleep } from './support.js';

/** What real servers do too rarely to be waited for: a server that follows a script. */

interface Hello {
  readonly lastZxid: bigint;
  readonly id: bigint;
  readonly password: string;
}

interface Asked {
  readonly xid: number;
  readonly op: number;
  readonly body: JuteReader;
}

let server: Server;
let address: string;
const hellos: Hello[] = [];
const asked: Asked[] = [];
const sockets = new Set<Socket>();
/** Answers a request; null: not at all. */
let script: (request: Asked, socket: Socket) => Buffer | null;
let greet: (count: number) => Buffer | null;

const standard = ({ xid, op }: Asked): Buffer => reply(xid, op);

beforeEach(async () => {
  hellos.length = 0;
  asked.length = 0;
  script = standard;
  greet = () => connectReply(4_000);
  server = createServer({ noDelay: true }, serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as { port: number }).port}`;
});

afterEach(async () => {
  const closing = closeAll();
  for (const socket of sockets) socket.destroy();
  server.close();
  await closing;
});

function send(socket: Socket, payload: Buffer | null): void {
  if (payload === null) return;
  const length = Buffer.alloc(4);
  length.writeInt32BE(payload.length);
  socket.write(Buffer.concat([length, payload]));
}

function serve(socket: Socket): void {
  sockets.add(socket.on('error', () => {}));
  const frames = new FrameReader(2 ** 20);
  let greeted = false;
  socket.on('data', (chunk) => {
    for (const frame of frames.push(chunk)) {
      const body = new JuteReader(frame);
      if (greeted) {
        const request = { xid: body.int(), op: body.int(), body };
        asked.push(request);
        send(socket, script(request, socket));
        continue;
      }
      greeted = true;
      body.int();
      const lastZxid = body.long();
      body.int();
      hellos.push({ lastZxid, id: body.long(), password: body.bytes().toString('hex') });
      const welcome = greet(hellos.length);
      if (welcome === null) socket.destroy();
      else send(socket, welcome);
    }
  });
}

function drop(): void {
  for (const socket of sockets) socket.destroy();
}

const zxidOf = (zxid: bigint, xid: number): Buffer => new JuteWriter().int(xid).long(zxid).int(0).finish();

it('goes on with its session, and tells the newest transaction that it knows of', async () => {
  const session = await open(address);
  expect(hellos).toEqual([{ lastZxid: 0n, id: 0n, password: '00'.repeat(16) }]);
  await session.read('/a', { watch: true });
  // An event of a later transaction than that of any reply.
  for (const socket of sockets) {
    send(socket, Buffer.concat([zxidOf(77n, XID.event), event(2, '/other').subarray(16)]));
  }
  await sleep(50);
  const down = nextState(session, 'disconnected');
  drop();
  await down;
  await nextState(session, 'connected');
  expect(hellos[1]).toEqual({ lastZxid: 77n, id: 0x0100_0000_0000_0001n, password: '07'.repeat(16) });
  await session.sync('/');
  const watches = asked.find(({ xid }) => xid === XID.setWatches);
  // What an event has told of may have come with more, in one transaction: only replies tell that all of it is here.
  expect(watches?.body.long()).toBe(42n);
  expect(watches?.body.list(4, () => watches.body.text())).toEqual(['/a']);
});

it('asks for all that it has missed until all of its watches are left again', async () => {
  const session = await open(address);
  // More than one frame of them.
  const paths = Array.from({ length: 200 }, (_, i) => `/${'n'.repeat(1_000)}-${i}`);
  await Promise.all(paths.map((path) => session.read(path, { watch: true })));
  // This server has got far meanwhile, and is lost when it has taken the first frame; the next one refuses them.
  let frames = 0;
  script = (request, socket) => {
    if (request.xid !== XID.setWatches) return standard(request);
    frames += 1;
    if (frames === 1) return zxidOf(1_000n, XID.setWatches);
    if (frames === 2) socket.destroy();
    if (frames === 3) return new JuteWriter().int(XID.setWatches).long(1_000n).int(-127).finish();
    return zxidOf(1_000n, XID.setWatches);
  };
  drop();
  while (frames < 5) await sleep(10);
  await session.sync('/');
  const armed = asked.filter(({ xid }) => xid === XID.setWatches);
  for (const { body } of armed) expect(body.long()).toBe(42n);
  // All is told now: from here on only what comes later counts.
  asked.length = 0;
  const down = nextState(session, 'disconnected');
  drop();
  await down;
  await nextState(session, 'connected');
  await session.sync('/');
  expect(asked.find(({ xid }) => xid === XID.setWatches)?.body.long()).toBe(1_000n);
});

it('tells what is refused for good from what is to be asked for again', async () => {
  const session = await open(address);
  for (const [code, kind, retriable] of [
    [-125, 'quota_exceeded', false],
    [-118, 'connection_lost', true],
    [-127, 'unknown', true],
  ] as const) {
    script = ({ xid, op }) => reply(xid, op, code);
    const error = await refusal(session.create('/a', bytes(''), 'ephemeral'));
    expect(error).toMatchObject({ kind, retriable });
    expect(session.state).toBe('connected');
  }
  script = standard;
});

it('is over when a server says so, whichever way it says it', async () => {
  const told = await open(address);
  script = ({ xid, op }) => reply(xid, op, -112);
  expect(await refusal(told.write('/a', bytes(''), -1))).toMatchObject({ kind: 'session_expired', maybeApplied: true });
  expect(told.state).toBe('expired');
  script = standard;
  for (const welcome of [connectReply(0), connectReply(-1), connectReply(4_000, 5n)]) {
    greet = () => connectReply(4_000);
    const session = await open(address);
    greet = () => welcome;
    drop();
    await nextState(session, 'expired');
  }
});

it('believes no reply that was not due', async () => {
  const session = await open(address);
  const wrong: ((request: Asked) => Buffer)[] = [
    ({ xid, op }) => reply(xid + 1, op),
    ({ xid, op }) => reply(xid - 1, op),
    ({ op }) => reply(2 ** 31 - 1, op),
    ({ op }) => reply(-77, op),
  ];
  for (const answer of wrong) {
    script = (request) => (request.op === OP.exists ? answer(request) : standard(request));
    const down = nextState(session, 'disconnected');
    expect(await refusal(session.stat('/a'))).toMatchObject({ kind: 'connection_lost', maybeApplied: true });
    await down;
    script = standard;
    await nextState(session, 'connected');
  }
  expect(await session.stat('/a')).not.toBeNull();
});

it('does not hammer servers that take it and hang up, or that hang up at once', async () => {
  const session = await open(address);
  for (const way of ['at once', 'afterwards']) {
    greet = (count) => {
      if (way === 'afterwards') setImmediate(drop);
      return way === 'at once' && count > 0 ? null : connectReply(4_000);
    };
    const before = hellos.length;
    drop();
    await sleep(1_000);
    const attempts = hellos.length - before;
    expect(attempts, way).toBeGreaterThan(3);
    expect(attempts, way).toBeLessThan(80);
  }
  greet = () => connectReply(4_000);
  await nextState(session, 'connected');
});

it('sends credentials, then watches, then what waits, in the order of the calls', async () => {
  const session = await open(address, { auth: [{ scheme: 'digest', credential: 'a:b' }] });
  await session.children('/a', { watch: true });
  greet = () => null;
  const down = nextState(session, 'disconnected');
  drop();
  await down;
  const waiting = [session.stat('/1'), session.write('/2', bytes(''), -1), session.sync('/3')].map((each) =>
    each.catch(() => 'lost'),
  );
  asked.length = 0;
  greet = () => connectReply(4_000);
  await nextState(session, 'connected');
  await Promise.all([...waiting, session.remove('/4')]);
  const ops = asked.map(({ op }) => op);
  expect(ops.slice(0, 2)).toEqual([OP.auth, OP.setWatches2]);
  expect(ops.filter((op) => op !== OP.ping).at(-1)).toBe(OP.delete);
  // Either all three were still waiting, or they were told that a round of servers was in vain.
  const sent = ops.filter((op) => op === OP.exists || op === OP.setData || op === OP.sync);
  if (sent.length > 0) expect(sent).toEqual([OP.exists, OP.setData, OP.sync]);
});

it('settles what was called before, when the server never answers the close', async () => {
  const session = await open(address);
  script = () => null;
  const pending = refusal(session.stat('/a'));
  const begin = performance.now();
  await session.close();
  expect(performance.now() - begin).toBeLessThan(3_000);
  expect(await pending).toMatchObject({ kind: 'session_closed', maybeApplied: true });
});
