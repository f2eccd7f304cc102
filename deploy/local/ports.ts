import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { type Lock, tryLock } from './lock.js';

/**
 * Free ports that stay ours. A port that was found by binding port 0 and closing it again may be anybody's a moment later:
 * another test's server's, or an outgoing connection's. So we choose below the range that the system hands out by itself,
 * and a lock file keeps each port for this process until it is released, also while its server is down.
 */
export interface PortLease {
  readonly port: number;
  release(): void;
}

function range(): { low: number; high: number } {
  let ephemeral = 32_768;
  try {
    ephemeral = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').split(/\s+/)[0]);
  } catch {
    // Not Linux: 49152 and up there, and 32768 is below that too.
  }
  return ephemeral > 12_000 ? { low: 10_000, high: Math.min(ephemeral, 32_768) } : { low: 61_000, high: 65_535 };
}

/** Whether a listener could be had. An address that isn't ours, in another network namespace say, can't be tried: taken on trust. */
function canBind(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRNOTAVAIL'));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

const locks = join(tmpdir(), `tenure-ports-${userInfo().uid}`);

async function tryPort(port: number, host: string): Promise<PortLease | undefined> {
  const held: Lock | undefined = tryLock(join(locks, String(port)));
  if (!held) return undefined;
  if (await canBind(port, host)) return { port, release: () => held.release() };
  held.release();
  return undefined;
}

/** A port that nobody uses on `host`, ours until it is released or this process ends. */
export async function leasePort(host = '127.0.0.1'): Promise<PortLease> {
  const { low, high } = range();
  for (let attempt = 0; attempt < 500; attempt++) {
    const lease = await tryPort(randomInt(low, high), host);
    if (lease) return lease;
  }
  throw new Error(`found no free port from ${low} to ${high} on ${host}`);
}

/** That very port, or an error that says it is in use. */
export async function leaseGivenPort(port: number, host = '127.0.0.1'): Promise<PortLease> {
  const lease = await tryPort(port, host);
  if (!lease) throw new Error(`port ${port} on ${host} is in use`);
  return lease;
}
