import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Holds } from './election/holds.js';
import type { Logger } from './election/host.js';
import type { Cancel } from './lease/clock.js';

/** How often it is looked for, in milliseconds. */
const LOOK_MS = 250;

/** The longest reason that is taken from it, in characters. */
const REASON_MAX = 200;

/** So much of it is read: any reason fits, whatever its characters. */
const READ_BYTES = 1_024;

/** Holds all elections of a connection while a file exists: a stop that anybody with a shell can ask for, ZooKeeper or not. */
export class HoldFile {
  readonly #path: string;
  readonly #holds: Holds;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #release: Cancel | null = null;
  #looking = false;
  #trouble = '';
  #closed = false;

  constructor(path: string, holds: Holds, logger: Logger) {
    this.#path = path;
    this.#holds = holds;
    this.#logger = logger;
  }

  /** Has looked once when it resolves: who is held from the start never joins a queue. */
  async watch(): Promise<void> {
    await this.#look();
    if (this.#closed) return;
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
      const regular = (await stat(this.#path)).isFile();
      if (this.#release !== null) this.#trouble = '';
      else this.#found(regular ? await firstLine(this.#path) : '');
    } catch (error) {
      if (!this.#closed) this.#failed(error);
    } finally {
      this.#looking = false;
    }
  }

  #found(line: string): void {
    this.#trouble = '';
    if (this.#closed) return;
    const reason = line || `${this.#path} exists`;
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

/** Nothing where it can't be read, for that it exists says enough. A pipe that took its place meanwhile doesn't make us wait for a writer. */
async function firstLine(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
    const line = buffer.toString('utf8', 0, bytesRead).split('\n')[0] ?? '';
    return line
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, REASON_MAX);
  } catch {
    return '';
  }
}
