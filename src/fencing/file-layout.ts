import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_TOKEN, type Token } from '../token.js';

/** The folder beside the published files in which the guard keeps its state. */
export const STATE = '.tenure';

/**
 * A resource's name as the name of a folder: nothing in it can climb out, and two names stay two even where the file system
 * ignores case. What gets too long is a hash.
 */
export function folderOf(resource: string): string {
  let name = '';
  for (const byte of Buffer.from(resource)) {
    const character = String.fromCharCode(byte);
    name += /[a-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  }
  return name.length <= 200 ? name : `~${createHash('sha256').update(resource).digest('hex')}`;
}

/** A token as a file's name: 19 digits, so that people see them in order. */
export function nameOf(token: Token): string {
  return token.toString().padStart(19, '0');
}

/** The tokens that name entries of a folder, ascending. What isn't one is ignored; an absent folder has none. */
export async function tokensIn(folder: string): Promise<Token[]> {
  const tokens: Token[] = [];
  for (const name of await list(folder)) {
    if (!/^\d{19}$/.test(name)) continue;
    const token = BigInt(name);
    if (token >= 1n && token <= MAX_TOKEN) tokens.push(token);
  }
  return tokens.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

export async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** Writes a new file to the disk, not only to the cache. Where that fails it leaves nothing: on a full disk every part would stay. */
export async function writeDurably(path: string, data: string | Uint8Array, mode = 0o666): Promise<void> {
  const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, mode);
  try {
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard(path);
    throw error;
  }
}

/** What the names of files begin with that are about to get another one. */
const DRAFT = 'draft-';

/** How old a draft is when its writer can be taken for dead. If it wasn't, it writes another. */
const DRAFT_MS = 60_000;

/** Writes a file under its name at once and whole: never a part of it is to be seen. */
export async function replaceDurably(path: string, data: string, trash: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const draft = join(trash, `${DRAFT}${randomUUID()}`);
    await writeDurably(draft, data);
    try {
      await rename(draft, path);
      return;
    } catch (error) {
      await discard(draft);
      // Cleared away under a writer that had been paused; or it is the folder of `path` that isn't there.
      if (!isAbsent(error) || attempt >= 2) throw error;
    }
  }
}

/** Empties a trash folder of what killed processes left in it, and of nothing that a living one still needs. */
export async function clearTrash(trash: string): Promise<void> {
  for (const name of await list(trash)) {
    const path = join(trash, name);
    if (name.startsWith(DRAFT)) {
      const age = await stat(path).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age < DRAFT_MS) continue;
    }
    await discard(path);
  }
}

/** Makes the entries of a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
}

export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Removes what may be gone already. */
export async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

export function isAbsent(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether there is no room, on the disk or in what the user may have of it. */
export function isFull(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (error: unknown) => {
      if (isAbsent(error)) return false;
      throw error;
    },
  );
}

export { rename };
