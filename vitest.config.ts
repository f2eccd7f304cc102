import { defineConfig } from 'vitest/config';

// Forked processes, never threads: the native driver's addon can live in one isolate of a process only.
export default defineConfig({
  test: {
    pool: 'forks',
    // Most tests wait for servers and timeouts, not for a processor.
    maxWorkers: 3,
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
