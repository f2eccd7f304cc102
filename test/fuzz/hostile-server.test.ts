import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CoordinatorError } from '../../src/errors.js';
import { Random } from '../../src/verify/random.js';
import { wireDriver } from '../../src/zookeeper/wire/driver.js';
import { FrameReader } from '../../src/zookeeper/wire/frames.js';
import type { WireSession } from '../../src/zookeeper/wire/session.js';
import { framed, mutate } from './mutations.js';
import { connectReply, event, reply } from './replies.js';

/** Operations against a server that answers nonsense; TENURE_FUZZ_FRAMES=1000000 makes it 50,000. */
const OPERATIONS = Number(process.env['TENURE_FUZZ_FRAMES'] ?? 100_000) / 20;
const SEED = Number(process.env['TENURE_FUZZ_SEED'] ?? 20_261_130);

/** What the server grants: a silence is over soon. */
const TIMEOUT_MS = 90;

const random = new Random(SEED);
let hostile = true;
let mutated = 0;
let server: Server;
const sockets = new Set<Socket>();
const astray: unknown[] = [];
const note = (error: unknown) => astray.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  server = createServer({ noDelay: true }, serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
  for (const socket of sockets) socket.destroy();
  server.close();
});

function serve(socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  const frames = new FrameReader(1 << 20);
  let greeted = false;
  socket.on('data', (chunk) => {
    for (const frame of frames.push(chunk)) {
      if (!greeted) answer(socket, connectReply(TIMEOUT_MS), 0.1);
      else
        answer(
          socket,
          reply(frame.readInt32BE(0), frame.readInt32BE(4), hostile && random.chance(0.1) ? -101 : 0),
          0.4,
        );
      greeted = true;
    }
  });
}

function answer(socket: Socket, payload: Buffer, nonsense: number): void {
  if (hostile && random.chance(0.1)) socket.write(framed(random, mutate(random, event(1 + random.below(4), '/a'))));
  if (hostile && random.chance(nonsense)) {
    mutated += 1;
    socket.write(framed(random, mutate(random, payload)));
    // Half of the time it goes on as if nothing had happened.
    if (random.chance(0.5)) socket.end();
  } else {
    const length = Buffer.alloc(4);
    length.writeInt32BE(payload.length);
    socket.write(Buffer.concat([length, payload]));
  }
}

const DATA = Buffer.from('data');

function act(session: WireSession): Promise<unknown> {
  switch (random.below(8)) {
    case 0:
      return session.create('/a/b-', DATA, 'ephemeral_sequential');
    case 1:
      return session.write('/a', DATA, -1);
    case 2:
      return session.read('/a', { watch: random.chance(0.5) });
    case 3:
      return session.stat('/a', { watch: random.chance(0.5) });
    case 4:
      return session.children('/a', { watch: random.chance(0.5) });
    case 5:
      return session.sync('/a');
    case 6:
      return session.transaction([
        { do: 'check', path: '/a' },
        { do: 'write', path: '/a', data: DATA, version: 0 },
        { do: 'create', path: '/a/n', data: DATA, mode: 'ephemeral' },
        { do: 'remove', path: '/a/m' },
      ]);
    default:
      return session.remove('/a');
  }
}

it(`${OPERATIONS} operations on a server that answers nonsense: each settles, and no more`, {
  timeout: 900_000,
}, async () => {
  const { port } = server.address() as { port: number };
  const servers = [{ host: '127.0.0.1', port }];
  const driver = wireDriver({
    servers,
    sessionTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: 20_000,
    maxReplyBytes: 1 << 16,
  });
  const heard: string[] = [];
  let session: WireSession | null = null;
  let before = 0;
  let settled = 0;
  const outcomes = new Map<string, number>();
  while (settled < OPERATIONS) {
    if (session === null || session.state === 'expired') {
      await session?.close();
      session = await driver.open().catch(() => null);
      session?.onNode('/a', (change) => heard.push(change));
      continue;
    }
    const current: WireSession = session;
    await Promise.all(
      Array.from({ length: 1 + random.below(6) }, async () => {
        const outcome = await act(current).then(
          () => 'success',
          (error: unknown) => {
            if (!(error instanceof CoordinatorError)) throw error;
            return error.kind;
          },
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        settled += 1;
      }),
    );
    heard.length = 0;
    if (before === 0 && settled > OPERATIONS / 10) before = heap();
  }
  await session?.close();
  expect(astray).toEqual([]);
  expect(mutated).toBeGreaterThan(OPERATIONS / 20);
  expect([...outcomes.keys()]).toEqual(expect.arrayContaining(['success', 'connection_lost']));
  expect(heap() - before, 'nothing is kept of what went wrong').toBeLessThan(30 * 2 ** 20);

  // And when the server is well again, so are we.
  hostile = false;
  const well = await driver.open();
  expect((await well.read('/a'))?.stat.version).toBe(1);
  await well.close();
});

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
