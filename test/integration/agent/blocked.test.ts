import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { Candidacies } from '../../../src/agent/candidacies.js';
import type { Answer } from '../../../src/agent/candidacy.js';
import { silentLogger } from '../../../src/election/host.js';
import { connect, type Tenure } from '../../../src/index.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let ensemble: Ensemble;
let tenure: Tenure;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  tenure = await connect({
    servers: ensemble.connectString,
    sessionTimeoutMs: 4_000,
    leaseMs: 1_000,
    driver: 'wire',
    lifeline: false,
  });
});

afterAll(async () => {
  await tenure?.close();
  await ensemble?.close();
});

describe('an event loop that was blocked past the lease', () => {
  it('answers in the same turn, before any timer could run, that nobody leads', async () => {
    const answers: Answer[] = [];
    const candidacies = new Candidacies({
      deadlineMs: 2_000,
      maxCandidacies: 10,
      logger: silentLogger,
      onChange: ({ answer }) => answers.push(answer),
      onEnd: () => {},
    });
    candidacies.follow(tenure);
    const candidacy = candidacies.join(tenure, 'blocked-loop', 'one', { hold: 'ttl', ttlMs: 60_000 });
    const led = await waitFor(
      () => {
        const answer = candidacy.ask({ put: true });
        return answer.leading && answer;
      },
      { what: 'it to lead' },
    );
    expect(led.mayActMs).toBeLessThanOrEqual(1_000);
    const until = performance.now() + 1_100;
    while (performance.now() < until);
    const told = answers.length;
    expect(candidacy.ask({ put: false })).toMatchObject({
      leading: false,
      mayActMs: 0,
      term: null,
      state: 'lost',
      reason: 'lease_expired',
    });
    expect(answers.slice(told).some(({ leading }) => leading)).toBe(false);
    candidacy.end('resigned');
    await candidacy.gone;
  });
});
