import { connect } from '../../tenure.js';
import { defineCommand } from '../command.js';
import { connectOptions } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { RUN_EXIT } from '../run/exit-codes.js';
import { parseHealthAddress } from '../run/health.js';
import { run as runCommand } from '../run/run.js';
import { UsageError } from '../usage-error.js';

export const run = defineCommand({
  name: 'run',
  summary: 'lead, and run a command while leading',
  description: [
    'Stands in the queue of an election, starts COMMAND when it leads, and gives the leadership up as soon as COMMAND has ' +
      'ended; its exit code is ours. Where COMMAND stands in several places, it runs in one of them at a time.',
    'COMMAND finds TENURE_TOKEN (the fencing token: pass it on with every write), TENURE_TERM, TENURE_ELECTION and ' +
      'TENURE_LEADER_ID in its environment. Input and output are its own; signals are passed on to it and its children.',
    'When the lease runs out because the ensemble is out of reach, it gets TERM while --grace of the lease is left, and KILL ' +
      'at its end, and so do all processes of its group; when the leadership is lost or taken away it gets TERM at once. All ' +
      'of them are dead before anybody else leads, even when this process is killed or frozen: see docs/run.md.',
  ],
  passthrough: 'COMMAND [ARGUMENT…]',
  ownSignals: true,
  options: {
    election: { kind: 'text', short: 'e', placeholder: 'NAME', required: true, help: 'The election to stand in.' },
    id: { kind: 'text', help: 'What this candidate is called. Default: hostname, pid and a random part.' },
    metadata: {
      kind: 'text',
      placeholder: 'KEY=VALUE',
      multiple: true,
      help: 'Shown to whoever observes the election.',
    },
    grace: {
      kind: 'duration',
      help: "What is left of the lease when COMMAND is told to end because the lease isn't renewed. Default: half of the lease.",
    },
    'drain-timeout': {
      kind: 'duration',
      default: 30_000,
      help: 'How long COMMAND may take to end when it is told to, while the lease goes on: on a pause, a transfer and the like.',
    },
    'takeover-delay': {
      kind: 'duration',
      default: 0,
      help: 'An additional wait after an end that nobody announced, for resources that check no token.',
    },
    restart: {
      kind: 'text',
      placeholder: 'POLICY',
      choices: ['never', 'on-failure', 'always'],
      default: 'never',
      help:
        'Join the queue again after COMMAND has ended: never; on-failure, when its code is not 0 or the leadership was lost; ' +
        'always. Not after a TERM, INT, HUP or QUIT.',
    },
    'restart-delay': { kind: 'duration', default: 1_000, help: 'The wait before joining again.' },
    'no-wait': { kind: 'flag', short: 'n', help: 'Give up at once if somebody else leads or waits.' },
    'wait-timeout': { kind: 'duration', short: 'w', help: "Give up when it hasn't led after so long." },
    'conflict-exit-code': {
      kind: 'count',
      short: 'E',
      default: RUN_EXIT.conflict,
      help: 'The exit code for --no-wait and --wait-timeout.',
    },
    'health-port': {
      kind: 'text',
      placeholder: '[ADDRESS:]PORT',
      help: 'Answer HTTP probes there: /leader with 200 while COMMAND runs, 503 otherwise; /healthz with 200.',
    },
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    {
      what: 'One settlement at a time, whatever number of machines',
      line: 'tenure run -e settlement -- ./settle --verbose',
    },
    { what: 'A service with hot standbys', line: 'tenure run -e mailer --restart always -- node mailer.js' },
    {
      what: 'From cron on several machines: one of them does it',
      line: 'tenure run -e nightly --no-wait -- /usr/local/bin/nightly',
    },
  ],
  exitCodes: {
    [EXIT.usage]: true,
    [RUN_EXIT.conflict]:
      'somebody else leads (--no-wait), or did for too long (--wait-timeout); see --conflict-exit-code',
    [RUN_EXIT.lost]: 'COMMAND was ended because the leadership was lost or taken away',
    [RUN_EXIT.failed]: 'Tenure itself failed: the message says why',
    [RUN_EXIT.notExecutable]: "COMMAND can't be executed; it didn't stand in the election",
    [RUN_EXIT.notFound]: "there is no such COMMAND; it didn't stand in the election",
  },
  async run(context, { options, rest }) {
    if (rest.length === 0) throw new UsageError('run needs a COMMAND', 'tenure run --election NAME -- COMMAND');
    const code = options['conflict-exit-code'];
    if (code > 255) throw new UsageError(`--conflict-exit-code ${code} must be from 0 to 255`);
    const health = options['health-port'];
    return runCommand(
      context,
      {
        election: options.election,
        id: options.id,
        metadata: metadata(options.metadata),
        command: rest,
        graceMs: options.grace,
        drainMs: options['drain-timeout'],
        takeoverDelayMs: options['takeover-delay'],
        restart: options.restart,
        restartDelayMs: options['restart-delay'],
        noWait: options['no-wait'],
        waitTimeoutMs: options['wait-timeout'],
        conflictExitCode: code,
        health: health === undefined ? null : parseHealthAddress(health),
        connect: (signal) => connect(connectOptions({ ...context, signal }, options)),
      },
      process,
    );
  },
});

function metadata(settings: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const equals = setting.indexOf('=');
      if (equals < 1) throw new UsageError(`--metadata ${JSON.stringify(setting)} must be KEY=VALUE`);
      return [setting.slice(0, equals), setting.slice(equals + 1)];
    }),
  );
}
