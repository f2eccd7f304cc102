import type { Instant } from '../lease/clock.js';
import type { Message, SessionCredentials } from './messages.js';

/** What there is to end of one session. */
export interface SessionEstate {
  readonly credentials: SessionCredentials;
  /** The session znode, or null. */
  readonly node: string | null;
  /** The candidate znodes under which its terms are held. */
  readonly leading: ReadonlySet<string>;
}

/** The child of `tenure run`. */
export type Child =
  | { readonly state: 'none' }
  | { readonly state: 'starting'; readonly mark: string }
  | { readonly state: 'running'; readonly group: number; readonly startTime: string | null };

/** What a worker would leave behind if it died now. Held by the worker itself, to tell a new helper, and by the helper. */
export class Estate {
  readonly #sessions = new Map<
    string,
    { credentials: SessionCredentials; node: string | null; leading: Set<string> }
  >();
  child: Child = { state: 'none' };
  leaseEnd: Instant | null = null;

  get sessions(): readonly SessionEstate[] {
    return [...this.#sessions.values()];
  }

  /** Nothing would have to be done. */
  get empty(): boolean {
    return this.#sessions.size === 0 && this.child.state === 'none';
  }

  told(message: Message): void {
    switch (message.tell) {
      case 'session':
        this.#sessions.set(message.session.id, { credentials: message.session, node: null, leading: new Set() });
        break;
      case 'node': {
        const session = this.#sessions.get(message.id);
        if (session !== undefined) session.node = message.path;
        break;
      }
      case 'leads':
        this.#sessions.get(message.id)?.leading.add(message.path);
        break;
      case 'left':
        this.#sessions.get(message.id)?.leading.delete(message.path);
        break;
      case 'over':
        this.#sessions.delete(message.id);
        break;
      case 'starting':
        this.child = { state: 'starting', mark: message.mark };
        break;
      case 'running':
        this.child = { state: 'running', group: message.group, startTime: message.startTime };
        break;
      case 'ended':
        this.child = { state: 'none' };
        break;
      case 'lease':
        this.leaseEnd = message.end;
        break;
    }
  }

  /** The messages that make another estate like this one. */
  *retold(): Generator<Message> {
    for (const { credentials, node, leading } of this.#sessions.values()) {
      const { id } = credentials;
      yield { tell: 'session', session: credentials };
      yield { tell: 'node', id, path: node };
      for (const path of leading) yield { tell: 'leads', id, path };
    }
    if (this.leaseEnd !== null) yield { tell: 'lease', end: this.leaseEnd };
    const { child } = this;
    if (child.state === 'starting') yield { tell: 'starting', mark: child.mark };
    if (child.state === 'running') yield { tell: 'running', group: child.group, startTime: child.startTime };
  }
}
