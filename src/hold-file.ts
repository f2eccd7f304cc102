import { readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Holds } from './election/holds.js';
import type { Logger } from './election/host.js';
import type { Cancel } from './lease/clock.js';

/** How often it is looked for, in milliseconds. */
const LOOK_MS = 250;

/** The longest reason that is taken from it, in characters. */
const REASON_MAX = 200;

/** Holds all elections of a connection while a file exists: a stop that anybody with a shell can ask for, ZooKeeper or not. */
export class HoldFile {
  readonly #path: string;
  readonly #holds: Holds;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #release: Cancel | null = null;
  #looking = false;
  #trouble = '';
  #closed = false;

  /** Looks once before it returns: who is held from the start never joins a queue. */
  constructor(path: string, holds: Holds, logger: Logger) {
    this.#path = path;
    this.#holds = holds;
    this.#logger = logger;
    try {
      statSync(path);
      this.#found();
    } catch (error) {
      this.#failed(error);
    }
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    // A file system that hangs is asked one thing at a time.
    if (this.#looking) return;
    this.#looking = true;
    try {
      await stat(this.#path);
      if (!this.#closed) this.#found();
    } catch (error) {
      if (!this.#closed) this.#failed(error);
    } finally {
      this.#looking = false;
    }
  }

  #found(): void {
    this.#trouble = '';
    if (this.#release !== null) return;
    const reason = reasonIn(this.#path) || `${this.#path} exists`;
    this.#logger.warn({ holdFile: this.#path, reason }, 'held: this process leads nothing until the file is gone');
    this.#release = this.#holds.hold(null, reason);
  }

  #failed(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      this.#trouble = '';
      if (this.#release === null) return;
      this.#logger.info({ holdFile: this.#path }, 'released: the file is gone');
      this.#release();
      this.#release = null;
      return;
    }
    // Whether it exists is not known: all stays as it was.
    if (this.#trouble === message) return;
    this.#trouble = message;
    this.#logger.warn({ holdFile: this.#path, err: error }, 'the hold file could not be looked for');
  }
}

/** Its first line; nothing where it can't be read, for that it exists says enough. */
function reasonIn(path: string): string {
  try {
    const line = readFileSync(path, 'utf8').split('\n')[0] ?? '';
    return line
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, REASON_MAX);
  } catch {
    return '';
  }
}
