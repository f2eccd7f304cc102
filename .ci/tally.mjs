// What reports of vitest say in sum. Each later one is of files that failed in the one before, and replaces it for them.
//   node tally.mjs failed REPORT      prints the files that failed, a line each
//   node tally.mjs count REPORT...    prints the tests that passed only the second time, then the counts; exit code 1 with a failure
import { readFileSync } from 'node:fs';

/** @typedef {{ name: string, status: string, assertionResults: { fullName: string, status: string }[] }} File */

/** @returns {File[]} */
function files(/** @type {string} */ report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    return [];
  }
}

const [what, ...reports] = process.argv.slice(2);
if (what === 'failed') {
  for (const { name, status } of files(reports[0])) if (status === 'failed') console.log(name);
} else {
  const last = new Map(reports.flatMap(files).map((file) => [file.name, file]));
  const tests = [...last.values()].flatMap((file) => file.assertionResults);
  const count = (/** @type {string[]} */ ...states) => tests.filter(({ status }) => states.includes(status)).length;
  // A file that could not even be read has no tests.
  const unread = [...last.values()].filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  const failed = count('failed') + unread.length;
  const passed = count('passed');
  for (const { name, assertionResults } of files(reports[0])) {
    const now = new Set(
      last
        .get(name)
        ?.assertionResults.filter((test) => test.status === 'passed')
        .map((test) => test.fullName),
    );
    for (const test of assertionResults)
      if (test.status === 'failed' && now.has(test.fullName))
        console.log(`UNSTEADY: failed beside other files, passed alone: ${name}: ${test.fullName}`);
  }
  console.log(`${passed} passed, ${failed} failed, ${tests.length - passed - count('failed')} skipped`);
  process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
}
