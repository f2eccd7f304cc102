import { defineCommand } from '../command.js';
import type { ConnectionValues } from '../connection.js';
import type { Context } from '../context.js';
import { examine } from '../doctor/examine.js';
import { type Finding, worst } from '../doctor/finding.js';
import { report } from '../doctor/report.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'find what is wrong with the ensemble and the elections',
  description: [
    'Looks at each server (does it grant a session, which release, how fast, which words does it allow), at the ensemble ' +
      '(quorum, members, granted timeouts, the clock of its leader against ours), at our rights, at the native driver, and ' +
      'at every election (what is left over, unreadable, without a leader, near the end of its numbers). Each finding says ' +
      'what to do.',
    'It opens a session with each server and writes a short-lived znode below the root, which it deletes; with ' +
      '--read-only it writes none, and then can tell neither write times, nor clocks, nor rights to write.',
  ],
  options: {
    'server-timeout': { kind: 'duration', default: 3_000, help: 'How long each server may take to answer.' },
    samples: { kind: 'count', default: 20, help: 'How many round trips are timed with each server.' },
    'read-only': { kind: 'flag', help: 'Write nothing.' },
    strict: { kind: 'flag', help: 'End with code 1 for warnings, too.' },
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'Is everything as it should be?', line: 'tenure doctor --servers zk1:2181,zk2:2181,zk3:2181/prod' },
    { what: 'In a pipeline, before a deployment', line: 'tenure doctor --strict --quiet' },
    {
      what: 'What has to be done?',
      line: `tenure doctor --json | jq -r '.findings[] | select(.fix) | "\\(.severity): \\(.message)"'`,
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'no error was found; with --strict no warning either',
    [EXIT.failure]: 'an error was found; with --strict, a warning',
    [EXIT.usage]: true,
    [EXIT.unreachable]: 'no server grants a session; what was found is printed all the same',
    [EXIT.denied]: 'every server refuses our credentials',
  },
  async run(context, { options }) {
    const { facts, findings } = await examine(context, options, {
      timeoutMs: options['server-timeout'],
      samples: options.samples,
      readOnly: options['read-only'],
      signal: context.signal,
    });
    tell(context, options, findings, facts);
    const sessions = facts.ensemble.servers.map(({ session }) => session);
    if (sessions.every((session) => 'error' in session)) {
      return sessions.every((session) => 'error' in session && session.denied) ? EXIT.denied : EXIT.unreachable;
    }
    const gravest = worst(findings);
    return gravest === 'error' || (gravest === 'warning' && options.strict) ? EXIT.failure : EXIT.ok;
  },
});

function tell(context: Context, options: ConnectionValues, findings: readonly Finding[], facts: object): void {
  const { out, json, quiet } = context;
  if (json) out.json({ servers: options.servers, worst: worst(findings), findings, facts });
  // Quiet: only what asks for something.
  else out.line(report(quiet ? findings.filter(({ fix }) => fix !== null) : findings, out));
}
