import type { Cancel } from '../lease/clock.js';
import type { Stoppable } from './stop.js';

/**
 * A promise that `start` settles, or that rejects with `signal.reason` as soon as the signal is
 * aborted. What `start` returns is called in either case: no timer or listener is left behind.
 */
export function abortable<T>(
  signal: Stoppable | undefined,
  start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => Cancel,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    let stop: Cancel = () => {};
    const finish = () => {
      signal?.removeEventListener('abort', onAbort);
      stop();
    };
    const onAbort = () => {
      finish();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    stop = start(
      (value) => {
        finish();
        resolve(value);
      },
      (reason) => {
        finish();
        reject(reason);
      },
    );
  });
}

/** Waits for `promise`, or rejects with `signal.reason` first; the promise's own outcome is then ignored. */
export function orAborted<T>(promise: Promise<T>, signal: Stoppable | undefined): Promise<T> {
  if (signal === undefined) return promise;
  // Where the signal is aborted already nobody would listen, and a rejection would end the process.
  promise.catch(() => {});
  return abortable<T>(signal, (resolve, reject) => {
    promise.then(resolve, reject);
    return () => {};
  });
}
