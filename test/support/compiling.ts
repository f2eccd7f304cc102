import type { TestProject } from 'vitest/node';
import { compileAgain } from '../../bench/compiled.js';

/** Before all tests: what they start as users have it is compiled once, not by each. */
export default function setup(project: TestProject): void {
  compileAgain();
  project.onTestsRerun(compileAgain);
}
