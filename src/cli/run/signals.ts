/** What is passed on to the command. The first four also mean that it shall not be started again. */
const STOPS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
const OTHERS = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

/**
 * The signals that we get, for the command. It is in a session of its own, so that what a terminal sends to everybody in the
 * foreground reaches it through us alone, and once.
 */
export class Signals {
  /** Aborted by the first that asks us to stop; its reason is the signal's name. */
  readonly stop: AbortSignal;
  readonly #stop = new AbortController();
  readonly #remove: (() => void)[] = [];
  #command: ((signal: NodeJS.Signals) => void) | null = null;

  constructor(process: NodeJS.Process) {
    this.stop = this.#stop.signal;
    for (const signal of [...STOPS, ...OTHERS]) {
      const listener = () => this.#got(signal);
      process.on(signal, listener);
      this.#remove.push(() => process.off(signal, listener));
    }
  }

  /** The first one that asked us to stop. */
  get stopped(): NodeJS.Signals | null {
    return this.stop.aborted ? (this.stop.reason as NodeJS.Signals) : null;
  }

  /** From now on they go to a command. Returns how to end that. */
  passTo(command: (signal: NodeJS.Signals) => void): () => void {
    this.#command = command;
    return () => {
      if (this.#command === command) this.#command = null;
    };
  }

  close(): void {
    for (const remove of this.#remove) remove();
  }

  #got(signal: (typeof STOPS)[number] | (typeof OTHERS)[number]): void {
    if ((STOPS as readonly string[]).includes(signal)) this.#stop.abort(signal);
    this.#command?.(signal);
  }
}
