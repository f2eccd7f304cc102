import { FileLedger } from '../../../src/verify/file-ledger.js';
import type { FileParameters } from '../../../src/verify/worker.js';
import { readParameters, work } from '../../../src/verify/workload.js';
import { unguarded } from './unguarded.js';

/* A worker of `tenure verify` whose guard lets everybody through. */
const parameters = await readParameters<FileParameters>();
await work(parameters, (observer) => new FileLedger(parameters.directory, observer, unguarded(parameters.directory)));
