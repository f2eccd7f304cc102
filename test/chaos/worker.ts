import { readParameters, type WorkerParameters, work } from '../../src/verify/workload.js';
import { PostgresLedger } from './ledger.js';

export interface ChaosParameters extends WorkerParameters {
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly database: string;
  };
}

const parameters = await readParameters<ChaosParameters>();
await work(parameters, (observer) => new PostgresLedger(parameters.postgres, observer));
