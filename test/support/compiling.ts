import type { TestProject } from 'vitest/node';
import { compileForChildren } from '../../bench/compiled.js';

/** Before all tests: what they start as users have it is compiled once, not by each. */
export default function setup(project: TestProject): void {
  compileForChildren('tenure-tests');
  project.onTestsRerun(() => compileForChildren('tenure-tests'));
}
