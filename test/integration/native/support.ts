import { createConnection } from 'node:net';
import type { NodeChange, Session } from '../../../src/election/port.js';
import { CoordinatorError, type CoordinatorErrorKind } from '../../../src/errors.js';
import { type NativeDriverOptions, nativeDriver } from '../../../src/zookeeper/native/driver.js';
import type { NativeSession } from '../../../src/zookeeper/native/session.js';
import { parseConnectString } from '../../../src/zookeeper/servers.js';
import { nextState } from '../../support/driver-tests.js';

export type Overrides = Partial<NativeDriverOptions> & { signal?: AbortSignal };

export const bytes = (text: string): Buffer => Buffer.from(text);

/** Sessions opened by a test file, closed together at its end. */
const opened = new Set<Session>();

export async function open(connectString: string, { signal, ...options }: Overrides = {}): Promise<NativeSession> {
  const { servers } = parseConnectString(connectString);
  const driver = await nativeDriver({
    servers,
    sessionTimeoutMs: 4000,
    connectTimeoutMs: 10_000,
    // Tests start servers while sessions are open: with such an addon they would fail in ways that nobody understands.
    onWarning: (message) => {
      throw new Error(message);
    },
    ...options,
  });
  const session = (await driver.open(signal)) as NativeSession;
  opened.add(session);
  return session;
}

export async function closeAll(): Promise<void> {
  await Promise.all([...opened].map((session) => session.close()));
  opened.clear();
}

/** The kind of error that an operation fails with; anything else fails the test. */
export async function kindOf(operation: Promise<unknown>): Promise<CoordinatorErrorKind | 'success'> {
  try {
    await operation;
    return 'success';
  } catch (error) {
    if (error instanceof CoordinatorError) return error.kind;
    throw error;
  }
}

export function nextChange(session: Session, path: string): Promise<NodeChange> {
  return new Promise((resolve) => {
    const cancel = session.onNode(path, (change) => {
      cancel();
      resolve(change);
    });
  });
}

/**
 * Ends a session from outside, as its other holder: attaches to it over plain TCP and closes it. The client that is thrown
 * off may take the session back before the close is handled, which voids it: then once more.
 */
export async function endSession(port: number, session: NativeSession): Promise<void> {
  const { id, password } = session;
  while (session.state !== 'expired') {
    await attachAndClose(port, id, password);
    await nextState(session, 'expired', 500).catch(() => {});
  }
}

function attachAndClose(port: number, id: string, password: string): Promise<void> {
  const connect = Buffer.alloc(49);
  connect.writeInt32BE(45, 0);
  connect.writeInt32BE(4000, 16);
  Buffer.from(id, 'hex').copy(connect, 20);
  connect.writeInt32BE(16, 28);
  Buffer.from(password, 'hex').copy(connect, 32);
  const close = Buffer.alloc(12);
  close.writeInt32BE(8, 0);
  close.writeInt32BE(1, 4);
  close.writeInt32BE(-11, 8);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(Buffer.concat([connect, close])));
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** A path that no other test uses. */
let count = 0;
export function freshPath(): string {
  count += 1;
  return `/native-${process.pid}-${count}`;
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
