import { expect } from 'vitest';
import { CoordinatorError } from '../../../src/errors.js';
import { parseConnectString } from '../../../src/zookeeper/servers.js';
import { type WireDriverOptions, wireDriver } from '../../../src/zookeeper/wire/driver.js';
import type { WireSession } from '../../../src/zookeeper/wire/session.js';

export const bytes = (text: string): Buffer => Buffer.from(text);

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const opened = new Set<WireSession>();

export async function open(
  connectString: string,
  { signal, ...options }: Partial<WireDriverOptions> & { signal?: AbortSignal } = {},
): Promise<WireSession> {
  const { servers } = parseConnectString(connectString);
  const driver = wireDriver({ servers, sessionTimeoutMs: 4000, connectTimeoutMs: 10_000, ...options });
  const session = await driver.open(signal);
  opened.add(session);
  return session;
}

export async function closeAll(): Promise<void> {
  await Promise.all([...opened].map((session) => session.close()));
  opened.clear();
}

/** The error of a rejected operation; anything else fails the test. */
export async function refusal(operation: Promise<unknown>): Promise<CoordinatorError> {
  const error = await operation.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CoordinatorError);
  return error as CoordinatorError;
}

/** A path that no other test uses. */
let count = 0;
export function freshPath(): string {
  count += 1;
  return `/wire-${process.pid}-${count}`;
}
