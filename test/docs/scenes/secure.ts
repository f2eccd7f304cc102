import assert from 'node:assert/strict';
import { connect, type Tenure } from '../../../src/index.js';

export { connect };

/* The page's server runs with the page's configuration, and the certificates lie in the folder where this runs. */

export async function afterwards({ tenure }: { tenure?: Tenure }): Promise<void> {
  const term = await tenure?.election('settlement').campaign();
  assert.equal(term?.number, 1);
  await term?.resign();
}
