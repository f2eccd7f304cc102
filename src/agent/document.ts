import { readFileSync } from 'node:fs';

/** The OpenAPI document that requests are checked against, as text. */
export const documentText = readFileSync(new URL('./openapi.json', import.meta.url), 'utf8');
