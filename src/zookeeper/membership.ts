import { DEFAULT_PORT, type ServerAddress } from './servers.js';

/** One server of the ensemble. */
export interface Member {
  /** Where it listens for clients. */
  readonly address: ServerAddress;
  readonly voter: boolean;
}

/** Where ZooKeeper keeps its own membership, outside of every chroot. Everyone may read it unless its ACL was changed. */
export const CONFIG_PATH = '/zookeeper/config';

const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '0:0:0:0:0:0:0:0']);

/**
 * Parses the dynamic configuration: lines such as `server.1=zk1:2888:3888:participant;zk1:2181`.
 *
 * @param known where a server's line doesn't say where it listens for clients, it is found here by its host
 * @returns null where there are no such lines, as with a standalone server
 */
export function parseMembership(text: string, known: readonly ServerAddress[]): Member[] | null {
  const members: Member[] = [];
  for (const line of text.split('\n')) {
    const spec = /^server\.\d+=(.+)$/.exec(line.trim())?.[1];
    if (spec === undefined) continue;
    const [quorum = '', client = ''] = spec.split(';');
    // With several addresses of one server (3.6), the role is the last one's.
    const host = hostOf(quorum.split('|')[0] ?? '');
    if (host === null) continue;
    members.push({ address: clientAddress(client, host, known), voter: !/:observer$/.test(quorum.trim()) });
  }
  return members.length === 0 ? null : members;
}

/** Whether votes are weighed or grouped: then no plain majority decides. */
export function isHierarchical(text: string): boolean {
  return /^(group|weight)\.\d+=/m.test(text);
}

function clientAddress(client: string, host: string, known: readonly ServerAddress[]): ServerAddress {
  const match = /^(?:(.*):)?(\d+)$/.exec(client.trim());
  if (match === null) {
    return known.find((server) => server.host === host) ?? { host, port: known[0]?.port ?? DEFAULT_PORT };
  }
  const own = unbracketed(match[1] ?? '');
  return { host: own === '' || ANY_ADDRESS.has(own) ? host : own, port: Number(match[2]) };
}

/** The host in `host:2888:3888…`, where an IPv6 address is in brackets. */
function hostOf(text: string): string | null {
  return /^(\[[^\]]+\]|[^:]+):\d+:\d+/.exec(text)?.[1]?.replace(/^\[|\]$/g, '') ?? null;
}

function unbracketed(text: string): string {
  return text.replace(/^\/?\[?|\]$/g, '');
}
