/** How often what is watched is looked at, in milliseconds. */
const TICK_MS = 100;

const looks = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls `look` every 100 ms. One timer serves all: most of what is watched is over within a millisecond, and a timer
 * for each would cost more than the rest of the watching.
 *
 * @returns stops it
 */
export function everyTick(look: () => void): () => void {
  looks.add(look);
  timer ??= setInterval(tick, TICK_MS);
  // What is watched keeps the process alive by itself, where it should.
  timer.unref();
  return () => looks.delete(look);
}

function tick(): void {
  if (looks.size === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  for (const look of [...looks]) if (looks.has(look)) look();
}
