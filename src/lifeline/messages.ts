import type { Instant } from '../lease/clock.js';
import type { TlsOptions } from '../zookeeper/wire/tls.js';

/** A session, with all that another process needs to end it. */
export interface SessionCredentials {
  /** 16 hex digits. */
  readonly id: string;
  /** 32 hex digits. */
  readonly password: string;
  readonly timeoutMs: number;
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  readonly auth: readonly { readonly scheme: string; readonly credential: string }[];
  /** Null: plain TCP. Its files by absolute paths. */
  readonly tls: TlsOptions | null;
}

/** What a worker tells its helper, in order. */
export type Message =
  | { readonly tell: 'session'; readonly session: SessionCredentials }
  /** The session znode, where the mark of its death belongs; null while there is none. */
  | { readonly tell: 'node'; readonly id: string; readonly path: string | null }
  /** A term is held under this candidate znode, or isn't any more. */
  | { readonly tell: 'leads' | 'left'; readonly id: string; readonly path: string }
  /** The session is over, or is going to be without the helper. */
  | { readonly tell: 'over'; readonly id: string }
  /** A child is being started; all of its processes have this setting in their environment. */
  | { readonly tell: 'starting'; readonly mark: string }
  /** It runs, as the leader of a process group of its own. `startTime` as in /proc, null where there is none. */
  | { readonly tell: 'running'; readonly group: number; readonly startTime: string | null }
  /** Nothing of the child is left. */
  | { readonly tell: 'ended' }
  /** No process of the child may run past this moment, by the machine's clocks. */
  | { readonly tell: 'lease'; readonly end: Instant };

/** One line for each. */
export function encodeMessage(message: Message): string {
  return `${JSON.stringify(message)}\n`;
}

/** Cuts what arrives into messages. Only whole lines count: a parent that was killed may have left half of one. */
export class MessageReader {
  #rest = '';

  push(text: string): Message[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => JSON.parse(line) as Message);
  }
}
