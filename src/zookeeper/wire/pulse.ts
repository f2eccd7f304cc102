/** No server is given up for less silence, where T allows: a busy machine and a collection of garbage are no reason. */
const LEAST_SILENCE_MS = 500;

/**
 * Keeps an idle connection alive and notices a server that hangs. When nothing at all has been heard for T/3 the server is
 * given up, which leaves time to go on with another; after half of that without a word, either way, a ping is sent.
 *
 * A process that was paused itself finds its timers late and the answers unread: so a server is given up only if it has had
 * half of that to answer a ping, and once more after all that has arrived was read.
 */
export class Pulse {
  readonly #silenceMs: number;
  readonly #ping: () => void;
  readonly #giveUp: (silentMs: number) => void;
  #heardAt = performance.now();
  #sentAt = this.#heardAt;
  #pingedAt: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `timeoutMs`: T. */
  constructor(timeoutMs: number, ping: () => void, giveUp: (silentMs: number) => void) {
    this.#silenceMs = Math.max(timeoutMs / 3, Math.min(LEAST_SILENCE_MS, (timeoutMs * 2) / 3));
    this.#ping = ping;
    this.#giveUp = giveUp;
    this.#look();
  }

  /** When the server was last heard, by the monotonic clock. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Something has arrived. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#pingedAt = null;
  }

  /** Something was sent. */
  sent(): void {
    this.#sentAt = performance.now();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    if (now < this.#due()) {
      this.#timer = setTimeout(() => this.#look(), Math.ceil(this.#due() - now));
    } else if (this.#pingedAt === null) {
      this.#pingedAt = now;
      this.#sentAt = now;
      this.#ping();
      this.#look();
    } else {
      // Behind the sockets' turn of the event loop.
      setImmediate(() => this.#conclude());
    }
  }

  #conclude(): void {
    if (this.#stopped) return;
    const now = performance.now();
    if (this.#pingedAt === null || now < this.#due()) this.#look();
    else this.#giveUp(now - this.#heardAt);
  }

  /** When something is to be done next: a ping, or the end. */
  #due(): number {
    const patienceMs = this.#silenceMs / 2;
    if (this.#pingedAt === null) return Math.min(this.#heardAt, this.#sentAt) + patienceMs;
    return Math.max(this.#heardAt + this.#silenceMs, this.#pingedAt + patienceMs);
  }
}
