import { defineConfig } from 'vitest/config';

// Forked processes, never threads: the native driver's addon can live in one isolate of a process only.
export default defineConfig({
  test: {
    pool: 'forks',
    // Most tests wait for servers and timeouts, not for a processor.
    maxWorkers: 4,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/compiling.ts'],
    // A busy machine may be slow; what has to be quick, a test measures itself, beside something that is as slow there.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
