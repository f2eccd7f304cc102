import { defineConfig } from 'vitest/config';

// Forked processes, never threads: the native driver's addon can live in one isolate of a process only.
export default defineConfig({
  test: {
    pool: 'forks',
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
