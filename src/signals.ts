/** Of each signal that is made here, those that it is made of. */
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * As `AbortSignal.any`, but keeps the signals for as long as the new one lives. That holds on to none of them: an
 * `AbortSignal.timeout` that its maker has not kept would go from memory, and never end what waits for it.
 */
export function anyOf(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  sources.set(any, signals);
  return any;
}
