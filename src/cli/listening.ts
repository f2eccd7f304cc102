import { readFileSync } from 'node:fs';
import type { Context } from './context.js';
import { UsageError } from './usage-error.js';

/** Short ones can be guessed. */
const TOKEN_LENGTH = 16;

/** From the file, else from TENURE_AGENT_TOKEN; null where neither is given. @throws {UsageError} which never shows what it read */
export function readToken({ env }: Context, file: string | undefined): string | null {
  const given = env['TENURE_AGENT_TOKEN'];
  if (file === undefined && (given === undefined || given === '')) return null;
  const where = file === undefined ? 'TENURE_AGENT_TOKEN' : `--token-file ${JSON.stringify(file)}`;
  let token: string;
  try {
    token = (file === undefined ? (given as string) : readFileSync(file, 'utf8')).trim();
  } catch (error) {
    throw new UsageError(`${where} can't be read: ${(error as Error).message}`);
  }
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= TOKEN_LENGTH) return token;
  throw new UsageError(
    `${where}: a token is at least ${TOKEN_LENGTH} characters of ASCII without blanks`,
    'openssl rand -hex 32 makes one',
  );
}

/** @throws {UsageError} when it is no address, or one beyond this machine that no token protects */
export function listenAddress(text: string, token: string | null): { host: string; port: number } {
  const found = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host === undefined || port > 65_535) {
    throw new UsageError(`--listen ${JSON.stringify(text)} must be host:port, such as 127.0.0.1:2182 or [::1]:2182`);
  }
  if (token === null && !isLoopback(host)) {
    throw new UsageError(
      `--listen ${text} is beyond this machine, where everybody could take part: it needs a token`,
      'give one by --token-file or TENURE_AGENT_TOKEN, or listen on 127.0.0.1',
    );
  }
  return { host, port };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
