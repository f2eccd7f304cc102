/** Of each signal that is made here, those that it is made of. */
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * As `AbortSignal.any`, but keeps the signals for as long as the new one lives. That holds on to none of them: an
 * `AbortSignal.timeout` that its maker has not kept would go from memory, and never end what waits for it. Those that weren't given
 * are left out.
 */
export function anyOf(given: readonly (AbortSignal | null | undefined)[]): AbortSignal {
  const signals = given.filter((signal) => signal != null);
  const any = AbortSignal.any(signals);
  sources.set(any, signals);
  return any;
}
