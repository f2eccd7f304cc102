import { afterAll, beforeAll } from 'vitest';
import { type Ensemble, startEnsemble, type ZooKeeperServer } from '../../deploy/local/index.js';
import { Lines } from '../../src/verify/lines.js';
import { Operator } from './operator.js';

/** An ensemble, somebody with a shell on it, and lines to it that can fail. */
export interface Site {
  readonly ensemble: Ensemble;
  readonly operator: Operator;
  readonly lines: Lines;
  /** The ensemble's first. */
  readonly server: ZooKeeperServer;
}

/** A site for the tests of one file: it stands while these run. */
export function site(options: Parameters<typeof startEnsemble>[0]): Site {
  const lines = new Lines();
  let ensemble: Ensemble;
  let operator: Operator;
  beforeAll(async () => {
    ensemble = await startEnsemble(options);
    operator = await Operator.at(ensemble.connectString);
  });
  afterAll(async () => {
    await operator?.close();
    await lines.close();
    await ensemble?.close();
  });
  return {
    lines,
    get ensemble() {
      return ensemble;
    },
    get operator() {
      return operator;
    },
    get server() {
      return ensemble.servers[0] as ZooKeeperServer;
    },
  };
}
