import { sessionsPath } from '../../election/names.js';
import type { Session } from '../../election/port.js';
import { AuthenticationError, CoordinatorError } from '../../errors.js';
import { anyOf } from '../../signals.js';
import { judge, type Probed, probeServers } from '../../zookeeper/ensemble.js';
import { ask } from '../../zookeeper/four-letter-words.js';
import { CONFIG_PATH, type Member, parseMembership } from '../../zookeeper/membership.js';
import { isRefusal } from '../../zookeeper/server-status.js';
import { formatServer, parseConnectString, type ServerAddress } from '../../zookeeper/servers.js';
import type { EnsembleFacts, LiveSessions, ServerFacts, SessionFacts } from './facts.js';
import { deepest, times, writes } from './measure.js';
import type { Surroundings } from './surroundings.js';

/** How long a command that only wants to know the bounds waits for them. */
const BOUNDS_MS = 2_000;

export interface Looking {
  readonly timeoutMs: number;
  readonly samples: number;
  /** Write nothing. */
  readonly readOnly: boolean;
  readonly signal: AbortSignal;
}

/** Asks each server by words, opens a session with each, and measures on it, one after the other: they share our processor. */
export async function lookAtEnsemble(around: Surroundings, looking: Looking): Promise<EnsembleFacts> {
  const { members, known } = await membersOf(around, looking);
  const probed = await Promise.all(
    (await probeServers(members, looking.timeoutMs)).map((each) => askMore(each, looking)),
  );
  const health = judge(probed);
  const named = new Set(around.servers.map(formatServer));
  const servers: ServerFacts[] = [];
  for (const { member, status } of probed) {
    looking.signal.throwIfAborted();
    servers.push({
      server: formatServer(member.address),
      voter: member.voter,
      named: named.has(formatServer(member.address)),
      status,
      session: await sessionWith(around, member.address, looking),
      bounds: await boundsOf(member.address, looking.timeoutMs),
    });
  }
  return { servers, health, membersKnown: known };
}

/** Who belongs to the ensemble, by its own word where somebody answers; else whom the connect string names. */
async function membersOf(around: Surroundings, { timeoutMs, signal }: Looking) {
  const presumed: Member[] = around.servers.map((address) => ({ address, voter: true }));
  let session: Session | null = null;
  try {
    session = await around.driverOf(around.servers, timeoutMs).open(signal);
    const config = await session.read(CONFIG_PATH);
    const told = parseMembership(new TextDecoder().decode(config?.data), around.servers);
    // By TLS we go to other ports than the ensemble tells of.
    if (told === null || around.tls) return { members: presumed, known: false };
    const known = new Set(told.map(({ address }) => formatServer(address)));
    // Where workers are told to go, by whatever name, is looked at; only the ensemble's own members have votes.
    const others = around.servers.filter((address) => !known.has(formatServer(address)));
    return { members: [...told, ...others.map((address) => ({ address, voter: false }))], known: true };
  } catch {
    if (signal.aborted) throw signal.reason;
    // What is wrong shows at each server.
    return { members: presumed, known: false };
  } finally {
    await session?.close();
  }
}

/** `mntr` is asked of each: the probe needs it of whichever server leads. */
async function askMore({ member, status }: Probed, { timeoutMs }: Looking): Promise<Probed> {
  if (status.mode === 'down' || status.refused.includes('mntr')) return { member, status };
  const answer = await ask(member.address, 'mntr', timeoutMs).catch(() => '');
  return isRefusal(answer)
    ? { member, status: { ...status, refused: [...status.refused, 'mntr'] } }
    : { member, status };
}

async function sessionWith(
  around: Surroundings,
  address: ServerAddress,
  { timeoutMs, samples, readOnly, signal }: Looking,
): Promise<ServerFacts['session']> {
  let session: Session | null = null;
  try {
    const from = performance.now();
    session = await around.driverOf([address], timeoutMs).open(anyOf([signal, AbortSignal.timeout(timeoutMs)]));
    const open = session;
    const openedInMs = performance.now() - from;
    const parent = await deepest(open, sessionsPath(around.root));
    const readsMs = await times(samples, () => open.stat('/'));
    const written = readOnly
      ? { writesMs: [], skew: null }
      : await writes(open, parent, around.host.uuid(), samples).catch(unlessForbidden);
    return { openedInMs, grantedMs: open.timeoutMs, readsMs, ...written } satisfies SessionFacts;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const denied = error instanceof AuthenticationError;
    return { error: reasonOf(error as Error, timeoutMs), denied };
  } finally {
    await session?.close();
  }
}

/** An ACL shows at the check of our rights, and is no fault of the server. */
function unlessForbidden(error: unknown): { writesMs: number[]; skew: null } {
  if (error instanceof CoordinatorError && error.kind === 'no_auth') return { writesMs: [], skew: null };
  throw error;
}

function reasonOf(error: Error, timeoutMs: number): string {
  if (error.name === 'TimeoutError') return `none within ${timeoutMs} ms`;
  // The part behind it says what became of the connection; the rest repeats the address.
  return error.message.split('; now ')[1] ?? error.message;
}

/** As the first of them tells: they are one ensemble. Null where it may not, or by TLS, which no word goes over. */
export async function boundsToldBy([first]: readonly ServerAddress[], tls: boolean): Promise<ServerFacts['bounds']> {
  return first === undefined || tls ? null : boundsOf(first, BOUNDS_MS);
}

async function boundsOf(address: ServerAddress, timeoutMs: number): Promise<ServerFacts['bounds']> {
  const answer = await ask(address, 'conf', timeoutMs).catch(() => '');
  return parseBounds(answer);
}

/** Reads the answer to `conf`. */
export function parseBounds(answer: string): ServerFacts['bounds'] {
  const number = (key: string) => Number(new RegExp(`^${key}=(\\d+)$`, 'm').exec(answer)?.[1] ?? Number.NaN);
  const [tickMs, minMs, maxMs] = [number('tickTime'), number('minSessionTimeout'), number('maxSessionTimeout')];
  return [tickMs, minMs, maxMs].some(Number.isNaN) ? null : { tickMs, minMs, maxMs };
}

/** What the ensemble's leader knows of sessions; null where it may not say. */
export async function liveSessions({ servers, health }: EnsembleFacts, timeoutMs: number): Promise<LiveSessions> {
  const leader = servers.find(({ server }) => server === health.leader);
  if (leader === undefined) return null;
  const [address] = parseConnectString(leader.server).servers;
  const answer = address === undefined ? '' : await ask(address, 'dump', timeoutMs).catch(() => '');
  return parseDump(answer);
}

/** Reads the sessions in a leader's answer to `dump`, as 16 digits each. Followers know only part of them, and don't list them. */
export function parseDump(answer: string): LiveSessions {
  const tracker = /^SessionTracker dump:\n([\s\S]*?)^ephemeral nodes dump:/m.exec(answer)?.[1];
  if (tracker === undefined || !/^Session Sets/m.test(tracker)) return null;
  return new Set([...tracker.matchAll(/^\t0x([0-9a-f]+)$/gm)].map(([, id = '']) => id.padStart(16, '0')));
}
