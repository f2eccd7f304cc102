import { FileLedger } from './file-ledger.js';
import { readParameters, type WorkerParameters, work } from './workload.js';

/* One worker process of `tenure verify`. */

export interface FileParameters extends WorkerParameters {
  readonly directory: string;
}

const parameters = await readParameters<FileParameters>();
await work(parameters, (observer) => new FileLedger(parameters.directory, observer));
