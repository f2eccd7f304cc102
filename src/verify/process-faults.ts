import { type Fault, onVictim, T } from './fault.js';

/** What is done to worker processes. */
export const PROCESS_FAULTS = {
  kill_worker: onVictim(({ field, random, victim }) => {
    victim.worker?.signal('SIGKILL');
    return { on: [victim], ms: random.between(100, T(field)), end: () => field.start(victim) };
  }),
  freeze_worker: onVictim(({ field, random, victim }) => {
    victim.worker?.signal('SIGSTOP');
    const { worker } = victim;
    return { on: [victim], ms: random.between(100, 3 * T(field)), end: () => worker?.signal('SIGCONT') };
  }),
} satisfies Readonly<Record<string, Fault>>;
