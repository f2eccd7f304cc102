/**
 * Jute, the encoding of ZooKeeper's records: big-endian integers, and a length before what varies. Numbers of 64 bits are
 * bigint, always.
 */

/** The bytes are no record: the peer is not ZooKeeper, or is broken. Whoever reads from a connection ends it. */
export class MalformedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedError';
  }
}

const EMPTY = Buffer.alloc(0);

/** Writes records into a buffer that grows. */
export class JuteWriter {
  #buffer: Buffer;
  #at: number;

  /** `reserved`: so many bytes are left free at the front. */
  constructor(reserved = 0, capacity = 192) {
    this.#buffer = Buffer.allocUnsafe(Math.max(capacity, reserved));
    this.#at = reserved;
  }

  int(value: number): this {
    this.#room(4);
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
    return this;
  }

  long(value: bigint): this {
    this.#room(8);
    this.#at = this.#buffer.writeBigInt64BE(value, this.#at);
    return this;
  }

  bool(value: boolean): this {
    this.#room(1);
    this.#at = this.#buffer.writeUInt8(value ? 1 : 0, this.#at);
    return this;
  }

  bytes(value: Uint8Array): this {
    this.int(value.byteLength);
    this.#room(value.byteLength);
    this.#buffer.set(value, this.#at);
    this.#at += value.byteLength;
    return this;
  }

  text(value: string): this {
    const length = Buffer.byteLength(value);
    this.int(length);
    this.#room(length);
    this.#at += this.#buffer.write(value, this.#at, 'utf8');
    return this;
  }

  list<T>(items: readonly T[], write: (item: T) => void): this {
    this.int(items.length);
    for (const item of items) write(item);
    return this;
  }

  /** What has been written, what was reserved included. The writer is done with then. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  #room(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}

/** Reads records; whatever lies about its length is refused before anything is allocated for it. */
export class JuteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  get remaining(): number {
    return this.#buffer.length - this.#at;
  }

  int(): number {
    return this.#buffer.readInt32BE(this.#take(4));
  }

  long(): bigint {
    return this.#buffer.readBigInt64BE(this.#take(8));
  }

  bool(): boolean {
    return this.#buffer[this.#take(1)] !== 0;
  }

  /** A copy: what is kept of a reply must not keep the whole reply. Absent (-1) reads as empty. */
  bytes(): Buffer {
    const length = this.int();
    if (length === -1) return EMPTY;
    const start = this.#take(length);
    return Buffer.from(this.#buffer.subarray(start, start + length));
  }

  /** Absent (-1) reads as the empty text. */
  text(): string {
    const length = this.int();
    if (length === -1) return '';
    const start = this.#take(length);
    return this.#buffer.toString('utf8', start, start + length);
  }

  /** Absent (-1) reads as empty. `smallest`: the least bytes that one item takes. */
  list<T>(smallest: number, read: () => T): T[] {
    const count = this.int();
    if (count === -1) return [];
    if (count < 0 || count * smallest > this.remaining) {
      throw new MalformedError(`a list of ${count} items in ${this.remaining} bytes`);
    }
    const items: T[] = [];
    for (let i = 0; i < count; i++) items.push(read());
    return items;
  }

  #take(bytes: number): number {
    const start = this.#at;
    if (bytes < 0 || bytes > this.remaining) {
      throw new MalformedError(`${bytes} bytes are announced where ${this.remaining} are left`);
    }
    this.#at += bytes;
    return start;
  }
}
