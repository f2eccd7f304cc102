import { afterAll, beforeAll, describe } from 'vitest';
import { type Ensemble, type EnsembleOptions, startEnsemble } from '../../deploy/local/index.js';
import { MixedQueue, type MixedQueueOptions } from './mixed-queue.js';
import { lacking, Programs } from './programs.js';

/** An ensemble, and the programs of all libraries. */
export interface Scene {
  readonly ensemble: Ensemble;
  readonly programs: Programs;
  open(options: Omit<MixedQueueOptions, 'ensemble' | 'programs'>): Promise<MixedQueue>;
}

/** Tests that take all libraries: skipped by name where one can't be had, failing there with TENURE_REQUIRE_ALL=1. */
export function interop(what: string, tests: (scene: () => Scene) => void, options: EnsembleOptions = {}): void {
  const skip = lacking !== undefined && !process.env['TENURE_REQUIRE_ALL'];
  const title = lacking === undefined ? what : `${what}: ${lacking}`;
  describe.skipIf(skip)(title, { timeout: 300_000 }, () => {
    let scene: Scene;

    beforeAll(async () => {
      const [ensemble, programs] = await Promise.all([
        startEnsemble({ tickTime: 500, fsync: false, ...options }),
        Programs.ready(),
      ]);
      scene = { ensemble, programs, open: (queue) => MixedQueue.open({ ensemble, programs, ...queue }) };
    }, 300_000);

    afterAll(() => scene?.ensemble.close());

    tests(() => scene);
  });
}
