/**
 * Guards files of one directory on one host: what is published replaces a file whole.
 *
 * @module tenure/fencing/file
 */
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { StaleTokenError } from '../errors.js';
import { formatToken } from '../token.js';
import { FenceReleasedError, InvalidResourceError } from './errors.js';
import { FileFence } from './file-fence.js';
import { discard, isAbsent, rename, STATE, syncFolder } from './file-layout.js';
import {
  type Accepted,
  checkResource,
  type FencedTerm,
  type FencingObserver,
  type Guard,
  untilFree,
  Verdict,
} from './guard.js';

/** Options of {@link fileGuard}. */
export interface FileGuardOptions {
  /** Under which files are published, and in whose `.tenure` folder the fences are kept. Created if absent. */
  directory: string;
  /** Permissions of published files, less the process's umask. Default 0o666. */
  mode?: number;
  /** Told of each check and what came of it. Default: nobody. `fencingMetrics()` of `tenure` counts them. */
  observer?: FencingObserver;
}

/** What a hold can do while it lasts. */
export interface FileHold {
  /** As {@link FileGuard.publish}, and allowed while a newer token is waiting for this hold to end. */
  publish(path: string, data: string | Uint8Array): Promise<void>;
}

/**
 * Guards files of one directory against the older terms of any process of this host. {@link FileGuard.publish} replaces a file at once and whole, on
 * the disk before it resolves, and never after a higher token has published: no lock, no clock and no time limit is in that.
 *
 * It needs a file system on which a rename is atomic and a folder's list is true: local ones, and network ones only if they keep
 * that among all hosts that write (NFS with its caches does not promise it).
 */
export class FileGuard implements Guard<FileHold> {
  readonly #directory: string;
  readonly #mode: number;
  readonly #observer: FencingObserver | undefined;
  readonly #fences = new Map<string, FileFence>();

  constructor(options: FileGuardOptions) {
    this.#directory = options.directory;
    this.#mode = options.mode ?? 0o666;
    this.#observer = options.observer;
  }

  /**
   * Replaces the file `path` (relative to the directory; folders are created) while the term's token is the highest that the resource has accepted.
   *
   * @throws {StaleTokenError} a higher token has been accepted. The file is as it was.
   * @throws {FenceBusyError} an older hold did not end in time. The file is as it was.
   * @throws {InvalidResourceError} the resource's name, or the path, which must stay inside the directory and out of `.tenure`.
   */
  publish(term: FencedTerm, resource: string, path: string, data: string | Uint8Array): Promise<void> {
    return this.#publish(term, resource, path, data, undefined);
  }

  async check(term: FencedTerm, resource: string): Promise<void> {
    await this.#judged(term, resource, async (fence, verdict) => {
      await this.#enter(fence, term);
      verdict.accepted();
    });
  }

  /**
   * For what isn't a file to be replaced: a device (name the resource by its path), a folder that another program writes. Newer
   * tokens wait for `work` to end, at most what remains of the lease when it begins. A process that is frozen for longer and wakes is
   * past its time without knowing; only its `publish` is refused then, not what else it does.
   */
  async hold<T>(term: FencedTerm, resource: string, work: (hold: FileHold) => T | Promise<T>): Promise<T> {
    const held = await this.#judged(term, resource, async (fence, verdict) => {
      await fence.refuseLower(term.token);
      // The hold comes before the look at the fence that `#enter` ends with: a newer term has then either seen the hold, or is seen by us.
      const path = await fence.takeHold(term).catch(async (error: unknown) => {
        if (isAbsent(error)) await fence.refuseLower(term.token);
        throw error;
      });
      try {
        await this.#enter(fence, term);
        // It counts from now, not from before the wait. Should it have run out in the wait, a newer term may have come.
        await fence.takeHold(term, path);
        await fence.refuseLower(term.token);
      } catch (error) {
        await discard(path);
        throw error;
      }
      verdict.accepted();
      return path;
    });
    let open = true;
    try {
      return await work({
        publish: async (path, data) => {
          if (!open)
            throw new FenceReleasedError(`the hold on ${JSON.stringify(resource)} has ended: is an await missing?`);
          await this.#publish(term, resource, path, data, held);
        },
      });
    } finally {
      open = false;
      await discard(held);
    }
  }

  async highest(resource: string): Promise<Accepted | null> {
    return await this.#fence(resource).highest();
  }

  async #publish(
    term: FencedTerm,
    resource: string,
    path: string,
    data: string | Uint8Array,
    hold: string | undefined,
  ): Promise<void> {
    await this.#judged(term, resource, async (fence, verdict) => {
      if (hold === undefined) await fence.refuseLower(term.token);
      const target = await this.#target(path);
      const staged = await fence.stage(term.token, data, this.#mode);
      try {
        await this.#enter(fence, term, hold);
        term.assert();
        await rename(staged, target);
      } catch (error) {
        await discard(staged);
        if (isAbsent(error)) await fence.refuseLower(term.token);
        throw error;
      }
      await syncFolder(dirname(target));
      // What is published in a hold was accepted with the hold.
      if (hold === undefined) verdict.accepted();
    });
  }

  /** Runs one step of an owner who may act, and tells the observer what came of it. */
  async #judged<T>(
    term: FencedTerm,
    resource: string,
    step: (fence: FileFence, verdict: Verdict) => Promise<T>,
  ): Promise<T> {
    const fence = this.#fence(resource);
    formatToken(term.token);
    term.assert();
    const verdict = new Verdict(this.#observer, term, resource);
    try {
      return await step(fence, verdict);
    } catch (error) {
      verdict.ended(error);
      throw error;
    }
  }

  /** Accepts the token, waits for older holds to end, and makes sure that no older term can publish any more and no newer one has come. */
  async #enter(fence: FileFence, term: FencedTerm, hold?: string): Promise<void> {
    try {
      await fence.accept(term);
      await untilFree(term, fence.resource, async () => ((await fence.heldByLower(term.token)) ? 'busy' : true));
      await fence.revokeLower(term.token);
      await fence.refuseLower(term.token);
    } catch (error) {
      if (error instanceof StaleTokenError && hold !== undefined && (await fence.isLive(hold))) return;
      throw error;
    }
  }

  #fence(resource: string): FileFence {
    let fence = this.#fences.get(checkResource(resource));
    if (fence === undefined) {
      fence = new FileFence(this.#directory, resource);
      this.#fences.set(resource, fence);
      if (this.#fences.size > 10_000) this.#fences.delete(this.#fences.keys().next().value as string);
    }
    return fence;
  }

  /** Where `path` is, its folder created, links in it followed: still inside the directory. */
  async #target(path: string): Promise<string> {
    checkResource(path);
    const segments = path.split('/');
    const bad = segments.find(
      (segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\\'),
    );
    if (bad !== undefined || segments[0]?.toLowerCase() === STATE) {
      throw new InvalidResourceError(`${JSON.stringify(path.slice(0, 60))} isn't a path inside the guarded directory`);
    }
    const target = join(this.#directory, ...segments);
    await mkdir(this.#directory, { recursive: true });
    const root = await realpath(this.#directory);
    // The nearest folder that exists is checked before any is made: mkdir would follow a link out of the directory.
    let existing = dirname(target);
    for (;;) {
      const real = await realpath(existing).catch((error: unknown) => {
        if (isAbsent(error)) return undefined;
        throw error;
      });
      if (real !== undefined) {
        const inside = real === root || real.startsWith(root + sep);
        if (!inside || real === join(root, STATE) || real.startsWith(join(root, STATE) + sep)) {
          throw new InvalidResourceError(
            `${JSON.stringify(path.slice(0, 60))} leads out of the guarded directory through a link`,
          );
        }
        break;
      }
      existing = dirname(existing);
    }
    const made = await mkdir(dirname(target), { recursive: true });
    if (made !== undefined) {
      for (let folder = dirname(target); folder !== dirname(made); folder = dirname(folder))
        await syncFolder(dirname(folder));
    }
    return target;
  }
}

/** A {@link FileGuard} for a directory. */
export function fileGuard(options: FileGuardOptions): FileGuard {
  return new FileGuard(options);
}
