import { type JuteWriter, MalformedError } from './jute.js';

/** Bytes of the length before each frame. A writer for a frame reserves them. */
export const LENGTH_BYTES = 4;

/** The finished frame of a writer that has reserved {@link LENGTH_BYTES}. */
export function frame(writer: JuteWriter): Buffer {
  const whole = writer.finish();
  whole.writeInt32BE(whole.length - LENGTH_BYTES, 0);
  return whole;
}

const NONE = Buffer.alloc(0);

/**
 * Cuts what arrives into frames. It never holds more than twice what has arrived of one frame, nor takes one longer than
 * `limit`: a length is believed only as its bytes come in.
 */
export class FrameReader {
  readonly #limit: number;
  /** The beginning of a frame whose end hasn't arrived: the first `#length` bytes. */
  #held: Buffer = NONE;
  #length = 0;

  /** `limit`: the longest frame that is taken, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The frames that `chunk` completes, without their lengths: views of it where possible.
   *
   * @throws {MalformedError} at a negative length, or one above the limit; nothing can be read after that
   */
  *push(chunk: Buffer): Generator<Buffer, void, void> {
    let rest = chunk;
    if (this.#length > 0) {
      // First what is missing of the length, then what is missing of the frame: no more than belongs to it.
      rest = this.#fill(rest, LENGTH_BYTES);
      if (this.#length < LENGTH_BYTES) return;
      const whole = LENGTH_BYTES + this.#checked(this.#held);
      rest = this.#fill(rest, whole);
      if (this.#length < whole) return;
      const complete = this.#held.subarray(LENGTH_BYTES, whole);
      this.#held = NONE;
      this.#length = 0;
      yield complete;
    }
    while (rest.length >= LENGTH_BYTES) {
      const whole = LENGTH_BYTES + this.#checked(rest);
      if (rest.length < whole) break;
      yield rest.subarray(LENGTH_BYTES, whole);
      rest = rest.subarray(whole);
    }
    this.#fill(rest, rest.length);
  }

  #checked(start: Buffer): number {
    const length = start.readInt32BE(0);
    if (length < 0 || length > this.#limit) {
      throw new MalformedError(`a frame of ${length} bytes, where at most ${this.#limit} are taken`);
    }
    return length;
  }

  /** Takes from `chunk` until `upTo` bytes are held. @returns what is left of it */
  #fill(chunk: Buffer, upTo: number): Buffer {
    const missing = Math.min(upTo - this.#length, chunk.length);
    if (missing <= 0) return chunk;
    const needed = this.#length + missing;
    if (needed > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(upTo, this.#held.length * 2)));
      this.#held.copy(grown, 0, 0, this.#length);
      this.#held = grown;
    }
    chunk.copy(this.#held, this.#length, 0, missing);
    this.#length = needed;
    return chunk.subarray(missing);
  }
}
