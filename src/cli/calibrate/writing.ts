import type { Host } from '../../election/host.js';
import { createBelow } from '../../election/nodes.js';
import { sessionLives, untilAnswered } from '../../election/persistence.js';
import type { Session } from '../../election/port.js';
import type { Write } from './silence.js';

const ALIVE = new TextEncoder().encode('{"v":1}');

/** With so many unanswered there is nothing to learn from one more. */
const MAX_IN_FLIGHT = 64;

export interface Written {
  readonly writes: readonly Write[];
  readonly failed: number;
  /** How many were not sent, as too many had no answer. */
  readonly heldBack: number;
}

/**
 * Writes to an ephemeral znode of its own, as renewals do, one every `everyMs`, whether the one before was answered or not.
 */
export class Writing {
  readonly #session: Session;
  readonly #path: string;
  readonly #writes: Write[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #host: Host;
  #failed = 0;
  #heldBack = 0;
  #inFlight = 0;

  private constructor(host: Host, session: Session, path: string, everyMs: number) {
    this.#host = host;
    this.#session = session;
    this.#path = path;
    this.#timer = setInterval(() => this.#send(), everyMs);
  }

  /** `parent` is made where it is absent. */
  static async begin(host: Host, session: Session, parent: string, everyMs: number): Promise<Writing> {
    const path = await createBelow(session, parent, `${parent}/${host.uuid()}`, ALIVE, 'ephemeral');
    return new Writing(host, session, path, everyMs);
  }

  /** When the newest of those that are confirmed was sent. */
  get newestConfirmed(): number {
    return this.#writes.reduce((newest, { sentAt }) => Math.max(newest, sentAt), 0);
  }

  get lives(): boolean {
    return sessionLives(this.#session);
  }

  /** What has been written until now. */
  get written(): Written {
    return { writes: [...this.#writes], failed: this.#failed, heldBack: this.#heldBack };
  }

  async stop(): Promise<Written> {
    clearInterval(this.#timer);
    // It goes with the session, too.
    await untilAnswered(this.#host, this.#session, () => this.#session.remove(this.#path)).catch(() => {});
    return this.written;
  }

  #send(): void {
    if (this.#inFlight >= MAX_IN_FLIGHT) {
      this.#heldBack += 1;
      return;
    }
    this.#inFlight += 1;
    const sentAt = performance.now();
    this.#session.write(this.#path, ALIVE, -1).then(
      () => {
        this.#inFlight -= 1;
        this.#writes.push({ sentAt, confirmedAt: performance.now() });
      },
      () => {
        this.#inFlight -= 1;
        this.#failed += 1;
      },
    );
  }
}
