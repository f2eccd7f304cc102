import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/** What to say about an addon whose sockets go to child processes, and what to do. */
export const INHERITED_SOCKETS_WARNING =
  'the installed package "zookeeper" was built without close-on-exec: a child process that is started while a session is ' +
  'open inherits its connection. When that connection ends before the child does, this process spins at 100 % CPU and ' +
  'new connections in it may hang. Build it again: "rm -rf node_modules/zookeeper/build && with_sock_cloexec=yes npm rebuild zookeeper"';

/**
 * Runs `openSocket` and tells whether it left a socket that child processes will inherit. Always false but on Linux, where
 * a connection that lives on in a child stays registered with our epoll after we have closed it: it reports events for a
 * descriptor that is gone or, worse, is another connection's by now.
 */
export function leavesInheritedSocket(openSocket: () => void): boolean {
  const before = new Set(inheritedSockets());
  openSocket();
  return inheritedSockets().some((descriptor) => !before.has(descriptor));
}

function inheritedSockets(): string[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc/self/fd').filter(isInheritedSocket);
  } catch {
    return [];
  }
}

function isInheritedSocket(descriptor: string): boolean {
  try {
    if (!readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:')) return false;
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The descriptor of the listing itself is gone by now.
    return false;
  }
}
