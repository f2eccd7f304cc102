/**
 * What must not outlive this process: cleanups run when it exits, by itself or by SIGINT, SIGTERM or SIGHUP. Being killed
 * outright is another matter: process.ts ties each server's life to ours for that.
 */
const cleanups = new Set<() => void>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
let installed = false;

function runAll(): void {
  for (const cleanup of [...cleanups].reverse()) {
    try {
      cleanup();
    } catch {
      // One that fails must not keep the others from running.
    }
  }
  cleanups.clear();
}

function onSignal(signal: NodeJS.Signals): void {
  // Whoever else listens wants to shut down in its own way; its exit brings us here again through 'exit'.
  if (process.listenerCount(signal) > 1) return;
  runAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

/** Runs `cleanup`, synchronously, when this process exits. Returns the means to take that back. */
export function onExit(cleanup: () => void): () => void {
  if (!installed) {
    installed = true;
    process.on('exit', runAll);
    for (const signal of signals) process.on(signal, onSignal);
  }
  cleanups.add(cleanup);
  return () => {
    cleanups.delete(cleanup);
  };
}
