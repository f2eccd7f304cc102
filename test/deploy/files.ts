import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export const project = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export const text = (path: string): string => readFileSync(join(project, path), 'utf8');

/** One document of YAML, with anchors and merges carried out. */
export function yaml<T>(path: string): T {
  return parse(text(path), { merge: true }) as T;
}

/** All documents of a text. @throws where it is no YAML */
export function documents<T>(content: string): T[] {
  return parseAllDocuments(content).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS() as T;
  });
}

/** Paths of all files below a folder, relative to the project. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(project, join(entry.parentPath, entry.name)));
}
