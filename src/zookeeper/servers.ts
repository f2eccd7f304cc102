import { isIPv4, isIPv6 } from 'node:net';
import { InvalidOptionError } from '../errors.js';
import { pathProblem } from './path.js';

/** Where a server listens for clients. `host` is a name or an IP literal, never in brackets. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** A connect string, taken apart. */
export interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** The prefix of every path: empty, or `/` and segments without a trailing slash. */
  readonly chroot: string;
}

/** ZooKeeper's port for clients. */
export const DEFAULT_PORT = 2181;

const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i;
const LONGEST_HOST_NAME = 253;

/**
 * Parses `zk1:2181,[::1]:2181,10.0.0.1/prod`: servers with an optional port (2181), then an optional chroot, once.
 *
 * @param option the name of the option that carried the text, for the error
 * @throws InvalidOptionError that names the part at fault and the fix
 */
export function parseConnectString(text: string, option = 'servers'): ConnectString {
  const fail = (message: string): never => {
    throw new InvalidOptionError(option, `${option}: ${message}`);
  };
  if (typeof text !== 'string' && text !== undefined) {
    return fail(
      `${JSON.stringify(text)} must be text, with the servers separated by commas, as in "zk1:2181,zk2:2181"`,
    );
  }
  if (text === undefined || text === '') {
    return fail('no servers are given; write host:port, separated by commas, as in "zk1:2181,zk2:2181,zk3:2181"');
  }
  const shown = JSON.stringify(text);
  if (text.includes(';')) return fail(`${shown} holds a semicolon; separate servers by commas`);
  if (/\s/.test(text)) return fail(`${shown} holds white space; remove it`);
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text);
  if (scheme !== null) {
    return fail(`${shown} looks like a URL; remove ${JSON.stringify(scheme[0])}, as in "zk1:2181/chroot"`);
  }

  const slash = text.indexOf('/');
  const list = slash === -1 ? text : text.slice(0, slash);
  const servers = list.split(',').map((entry, index) => {
    if (entry === '') return fail(`entry ${index + 1} of ${shown} is empty; remove the comma or add a server`);
    return parseServer(entry, fail);
  });
  return { servers, chroot: slash === -1 ? '' : parseChroot(text.slice(slash), fail) };
}

function parseServer(entry: string, fail: (message: string) => never): ServerAddress {
  const shown = JSON.stringify(entry);
  if (entry.startsWith('[')) {
    const match = /^\[([^\]]*)\](?::(.*))?$/.exec(entry);
    const host = match?.[1];
    if (host === undefined || !isIPv6(host)) {
      return fail(`${shown} is not an IPv6 address in brackets; write it as in "[2001:db8::1]:2181"`);
    }
    return { host, port: parsePort(match?.[2], shown, fail) };
  }
  const [host = '', port, ...more] = entry.split(':');
  if (more.length > 0) {
    return fail(
      isIPv6(entry)
        ? `${shown} is an IPv6 address without brackets; write "[${entry}]:${DEFAULT_PORT}"`
        : `${shown} has more than one colon; write host:port, and IPv6 addresses in brackets`,
    );
  }
  if (host === '') return fail(`${shown} has no host before the colon; write host:port`);
  if (!HOST_NAME.test(host) || host.length > LONGEST_HOST_NAME || host.includes('..')) {
    return fail(`${shown} is not a host; use a DNS name, an IPv4 address, or an IPv6 address in brackets`);
  }
  // A resolver would read 10.1 as 10.0.0.1 and 010.0.0.1 as octal: digits and dots are an address or a typo.
  if (/^[\d.]+$/.test(host) && !isIPv4(host)) {
    return fail(`${shown} is not an IPv4 address; write four numbers from 0 to 255, as in "10.0.0.1:2181"`);
  }
  return { host, port: parsePort(port, shown, fail) };
}

function parsePort(text: string | undefined, entry: string, fail: (message: string) => never): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    return fail(`${entry} has the port ${JSON.stringify(text)}; a port is a number from 1 to 65535`);
  }
  return port;
}

function parseChroot(text: string, fail: (message: string) => never): string {
  // Only as far as nobody can mean something else by it: one trailing slash.
  const chroot = text.endsWith('/') && !text.endsWith('//') ? text.slice(0, -1) : text;
  if (chroot === '') return '';
  const shown = JSON.stringify(text);
  if (chroot.includes(',')) {
    return fail(`the chroot ${shown} holds a comma; give the chroot once, after the last server`);
  }
  const problem = pathProblem(chroot);
  if (problem !== null) return fail(`the chroot ${shown} ${problem}; write it as in "zk1:2181,zk2:2181/prod"`);
  return chroot;
}

/** `host:port`, with brackets around an IPv6 address: the inverse of the parser. */
export function formatServer(server: ServerAddress): string {
  return `${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`;
}

/** A list of servers for a message. */
export function formatServers(servers: readonly ServerAddress[]): string {
  return servers.map(formatServer).join(', ');
}
