import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StaleTokenError } from '../errors.js';
import type { Token } from '../token.js';
import {
  clearTrash,
  discard,
  exists,
  folderOf,
  isAbsent,
  isFull,
  list,
  makeFolder,
  nameOf,
  readText,
  rename,
  replaceDurably,
  STATE,
  syncFolder,
  tokensIn,
  writeDurably,
} from './file-layout.js';
import { type Accepted, type FencedTerm, holdMs } from './guard.js';

/** A hold as it stands in its file. */
interface HoldRecord {
  /** Which start of the machine `until` belongs to. */
  readonly boot: string;
  /** By the machine's monotonic clock, which all its processes share, in milliseconds. */
  readonly until: number;
}

/**
 * The fence of one resource in a folder of its own:
 *
 * ```
 * fence/<token>          the accepted tokens; the highest name counts, so a set that only grows needs no lock
 * staging/<token>/<id>   files on their way to being published
 * holds/<token>/<id>     holds
 * trash/<id>             staging folders of older terms
 * ```
 *
 * **Why a paused writer can't slip through, without any lock.** A writer (a) stages its file, (b) accepts its token,
 * (c) moves the staging folders of lower tokens into the trash, (d) looks whether a higher token has been accepted, and
 * (e) renames its staged file to its place. Take an old and a new writer. If the old one looks (d) after the new one has
 * accepted (b), it is refused. If it looks before, its file was staged before the new one empties the lower folders (c), so its
 * rename (e) either comes before the new one's, or finds its file gone. No clock and no time limit is in this argument.
 */
export class FileFence {
  readonly resource: string;
  readonly #folder: string;
  /** The token whose acceptance this process has seen reach the disk. */
  #durable: Token = 0n;

  constructor(directory: string, resource: string) {
    this.resource = resource;
    this.#folder = join(directory, STATE, folderOf(resource));
  }

  /** Writes data where only a rename is missing. Step (a). */
  async stage(token: Token, data: string | Uint8Array, mode: number): Promise<string> {
    const folder = join(this.#folder, 'staging', nameOf(token));
    const path = join(folder, randomUUID());
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#withRoom(token, async () => {
          await makeFolder(folder);
          await writeDurably(path, data, mode);
        });
        return path;
      } catch (error) {
        // A newer term moved the folder away between the two. The look at the fence says so better than this error.
        if (!isAbsent(error) || attempt >= 20) throw error;
      }
    }
  }

  /** Adds the token to the accepted ones. Step (b). */
  async accept(term: FencedTerm): Promise<void> {
    const token = term.token;
    const folder = join(this.#folder, 'fence');
    const path = join(folder, nameOf(token));
    // A look, too: somebody may have deleted the whole state under this process, and then every older term would be accepted.
    if (token === this.#durable && (await exists(path))) return;
    await this.refuseLower(token);
    const record = JSON.stringify({ resource: this.resource, holder: term.leaderId ?? null });
    await this.#withRoom(token, async () => {
      await makeFolder(folder);
      if ((await readText(path)) === undefined) await this.#replace(path, record);
    });
    // Another process may have made the file a moment ago and not have come as far as this.
    for (const each of [folder, this.#folder, join(this.#folder, '..'), join(this.#folder, '../..')])
      await syncFolder(each);
    this.#durable = token;
    for (const lower of await tokensIn(folder)) if (lower < token) await discard(join(folder, nameOf(lower)));
  }

  /** Takes every lower term the files that it has staged. Step (c). And clears away what killed processes have left. */
  async revokeLower(token: Token): Promise<void> {
    const folder = join(this.#folder, 'staging');
    for (const lower of await tokensIn(folder)) {
      if (lower >= token) break;
      await this.#toTrash(join(folder, nameOf(lower)));
    }
    await clearTrash(join(this.#folder, 'trash'));
  }

  /**
   * Step (d).
   *
   * @throws {StaleTokenError} when a higher token has been accepted
   */
  async refuseLower(token: Token): Promise<void> {
    const highest = await this.highest();
    if (highest !== null && highest.token > token) {
      throw new StaleTokenError(this.resource, token, highest.token, highest.holder);
    }
  }

  async highest(): Promise<Accepted | null> {
    const folder = join(this.#folder, 'fence');
    // The file can be replaced by a higher one between the list and the read: then the list is out of date.
    for (;;) {
      const token = (await tokensIn(folder)).at(-1);
      if (token === undefined) return null;
      const text = await readText(join(folder, nameOf(token)));
      if (text !== undefined) return { token, holder: holderOf(text) };
    }
  }

  /** Leaves a hold that ends by itself after what remains of the lease; or has `path`, one of before, end that much later. */
  async takeHold(term: FencedTerm, path?: string): Promise<string> {
    const folder = join(this.#folder, 'holds', nameOf(term.token));
    path ??= join(folder, randomUUID());
    const hold = path;
    await this.#withRoom(term.token, async () => {
      await makeFolder(folder);
      const record: HoldRecord = { boot: bootId(), until: now() + holdMs(term) };
      await this.#replace(hold, JSON.stringify(record));
    });
    return hold;
  }

  /** Whether a hold still counts. What can't be read as one doesn't. */
  async isLive(hold: string): Promise<boolean> {
    const text = await readText(hold);
    if (text === undefined) return false;
    try {
      const { boot, until } = JSON.parse(text) as HoldRecord;
      return boot === bootId() && until > now();
    } catch {
      return false;
    }
  }

  /** Whether a hold of a lower token is still there. Those that are over are cleared away. */
  async heldByLower(token: Token): Promise<boolean> {
    const root = join(this.#folder, 'holds');
    for (const lower of await tokensIn(root)) {
      if (lower >= token) break;
      const folder = join(root, nameOf(lower));
      for (const name of await list(folder)) {
        const hold = join(folder, name);
        if (await this.isLive(hold)) return true;
        await discard(hold);
      }
      // Fails where a hold has just come in: it is of a term that is refused a moment later.
      await rmdir(folder).catch(() => undefined);
    }
    return false;
  }

  /**
   * Tries again, once, where a disk is full: what older terms have staged may be what fills it. Those have been refused, or are when we come to
   * accept; and one that is not yet loses no more than the publishing that it is in.
   */
  async #withRoom(token: Token, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.revokeLower(token);
      await step();
    }
  }

  async #replace(path: string, data: string): Promise<void> {
    const trash = join(this.#folder, 'trash');
    await makeFolder(trash);
    await replaceDurably(path, data, trash);
  }

  async #toTrash(path: string): Promise<void> {
    const trash = join(this.#folder, 'trash');
    await makeFolder(trash);
    const grave = join(trash, randomUUID());
    try {
      await rename(path, grave);
    } catch (error) {
      if (isAbsent(error)) return;
      throw error;
    }
    await discard(grave);
  }
}

function holderOf(text: string): string | undefined {
  try {
    const { holder } = JSON.parse(text);
    return typeof holder === 'string' ? holder : undefined;
  } catch {
    return undefined;
  }
}

function now(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

let boot: string | undefined;

function bootId(): string {
  if (boot === undefined) {
    try {
      boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    } catch {
      boot = '';
    }
  }
  return boot;
}
