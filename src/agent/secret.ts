import { createHash, timingSafeEqual } from 'node:crypto';

/** What a client has to show. It is kept as a digest: of one length, as a comparison in constant time needs it. */
export class Secret {
  readonly #digest: Buffer;

  constructor(text: string) {
    this.#digest = digest(text);
  }

  /** In constant time. */
  matches(shown: string | undefined): boolean {
    return shown !== undefined && timingSafeEqual(digest(shown), this.#digest);
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
