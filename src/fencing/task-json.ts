/** A value as JSON text, null for undefined. Throws what `JSON.stringify` throws: before anything is committed. */
export function toJson(value: unknown): string | null {
  return JSON.stringify(value) ?? null;
}

/** The value as every later reader gets it. */
export function fromJson(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}

/** A key for the world outside, where keys of all tasks meet: no two lists of parts give the same. */
export function externalKey(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
