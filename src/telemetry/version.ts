import { readFileSync } from 'node:fs';

/** Tenure's own version, as its package says: two folders up from here, in the sources and as published. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
