import { createServer, type Server } from 'node:net';
import type { ZooKeeperServer } from '../../deploy/local/index.js';
import type { Session, SessionState } from '../../src/election/port.js';

/** Resolves when the session is in that state. */
export function nextState(session: Session, wanted: SessionState, timeoutMs = 60_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`still ${session.state}, not ${wanted}`)), timeoutMs);
    const check = (): void => {
      if (session.state !== wanted) return;
      clearTimeout(timer);
      cancel();
      resolve();
    };
    const cancel = session.onState(check);
    check();
  });
}

/** How many sessions the server knows. */
export async function sessionsAt(server: ZooKeeperServer): Promise<number> {
  return Number(/^zk_global_sessions\t(\d+)/m.exec(await server.ask('mntr'))?.[1] ?? Number.NaN);
}

/** Accepts connections and says nothing, as a server that hangs. */
export async function silentServer(): Promise<{ port: number; close: () => void }> {
  const held = new Set<{ destroy(): void }>();
  const silent: Server = createServer((socket) => held.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    for (const socket of held) socket.destroy();
    silent.close();
  };
  return { port: (silent.address() as { port: number }).port, close };
}
