import type { ServerResponse } from 'node:http';
import type { PresentedTerm } from './presenter.js';

/** The handler answered with an error: what it wrote is not to be kept. */
export class RolledBack extends Error {}
export class Disconnected extends Error {}
export class HoldTimedOut extends Error {}

/** The methods by which a handler changes a response. */
const CHANGES = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader', 'writeHead', 'flushHeaders', 'addTrailers'];

/** The response's end, kept back until we know that what it says is true. */
export class KeptEnd {
  readonly #response: ServerResponse;
  readonly #term: PresentedTerm;
  readonly #end: ServerResponse['end'];
  #kept: Parameters<ServerResponse['end']> | undefined;
  /** What the response's own properties were before they were frozen; absent ones came from its class. */
  #thawed: Map<string, PropertyDescriptor | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #settle: ((failure?: Error) => void) | undefined;
  readonly #closed = () => this.#over(new Disconnected());

  constructor(response: ServerResponse, term: PresentedTerm) {
    this.#response = response;
    this.#term = term;
    this.#end = response.end;
    response.end = ((...args: Parameters<ServerResponse['end']>) => {
      if (this.#kept === undefined) {
        this.#kept = args;
        this.#freeze();
        this.#settle?.(response.statusCode >= 400 ? new RolledBack() : undefined);
      }
      return response;
    }) as ServerResponse['end'];
    response.on('close', this.#closed);
  }

  /** Whether the client has gone: nobody is there to be answered. */
  get disconnected(): boolean {
    return this.#response.destroyed;
  }

  /**
   * Resolves when the handler has ended its response well; rejects when it has ended it with an error status, when its client has gone, or when its
   * time is over.
   */
  asked(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = (failure) => {
        clearTimeout(this.#timer);
        this.#settle = undefined;
        if (failure === undefined) resolve();
        else reject(failure);
      };
      this.#timer = setTimeout(() => this.#over(new HoldTimedOut()), timeoutMs);
      if (this.#response.destroyed) this.#closed();
    });
  }

  send(): void {
    this.restore();
    if (!this.#response.destroyed) this.#end.apply(this.#response, this.#kept as Parameters<ServerResponse['end']>);
  }

  /** Makes the response what it was. */
  restore(): void {
    this.#response.end = this.#end;
    this.#thaw();
    this.#response.removeListener('close', this.#closed);
  }

  /**
   * From the end on a response is what it is, for a handler that goes on and for error handlers after it. Node would say so by itself, but to Node
   * nothing has been sent yet: a late status would go out with a body, and after a commit, that were meant for another.
   */
  #freeze(): void {
    const response = this.#response;
    const { statusCode, statusMessage } = response;
    const frozen: Record<string, PropertyDescriptor> = {
      statusCode: { get: () => statusCode, set: () => undefined },
      statusMessage: { get: () => statusMessage, set: () => undefined },
      headersSent: { get: () => true },
      writableEnded: { get: () => true },
      write: { value: dropped },
    };
    for (const name of CHANGES) frozen[name] = { value: () => response };
    this.#thawed = new Map();
    for (const [name, descriptor] of Object.entries(frozen)) {
      this.#thawed.set(name, Object.getOwnPropertyDescriptor(response, name));
      // Accessors have no `writable`; methods stay assignable, or middleware that wraps them late would throw.
      const writable = 'value' in descriptor ? { writable: true } : {};
      Object.defineProperty(response, name, { ...descriptor, ...writable, configurable: true });
    }
  }

  #thaw(): void {
    for (const [name, descriptor] of this.#thawed ?? []) {
      if (descriptor === undefined) Reflect.deleteProperty(this.#response, name);
      else Object.defineProperty(this.#response, name, descriptor);
    }
    this.#thawed = undefined;
  }

  #over(reason: Error): void {
    // What waits for the fence, or works under it, learns of it from the term.
    this.#term.end(reason);
    this.#settle?.(reason);
  }
}

/** A write after the end. Its callback is called, or whoever waits for it would wait forever. */
function dropped(...args: unknown[]): boolean {
  const callback = args.find((each) => typeof each === 'function') as ((error: Error) => void) | undefined;
  if (callback !== undefined) process.nextTick(callback, new Error('write after the end of the response'));
  return false;
}

/** A handler that goes on after its time must find a response that takes its words and drops them. */
export function mute(response: ServerResponse): void {
  const drop = () => response;
  Object.assign(response, { setHeader: drop, removeHeader: drop, writeHead: drop, write: () => true, end: drop });
}
