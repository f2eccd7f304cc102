import { fileURLToPath } from 'node:url';
import { programAt } from '../lifeline/program.js';

/** What Node.js is told to run a program that comes with this one. */
export function programOf(compiled: URL): readonly string[] {
  const words = programAt(compiled);
  if (words === null) throw new Error(`${fileURLToPath(compiled)} is missing: Tenure is not installed whole`);
  return words;
}
