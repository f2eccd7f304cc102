import { randomBytes, randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../../verify/checker.js';
import { FAULTS } from '../../verify/faults.js';
import type { History } from '../../verify/history.js';
import { report, summary } from '../../verify/report.js';
import { NotStartedError, possibleFaults, type Run, runOn } from '../../verify/run.js';
import { timeline } from '../../verify/timeline.js';
import type { Violation } from '../../verify/violation.js';
import { parseConnectString } from '../../zookeeper/servers.js';
import { defineCommand, type Values } from '../command.js';
import { confirm } from '../confirm.js';
import { connectOptions } from '../connection.js';
import type { Context } from '../context.js';
import { YES_OPTION } from '../control-options.js';
import { boundsToldBy } from '../doctor/look-at-ensemble.js';
import { showDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { CommandFailure, UsageError } from '../usage-error.js';

/** Where `conf` is not allowed, ZooKeeper's own default is presumed. */
const PRESUMED_TICK_MS = 2_000;

// It has a root of its own, which nobody else's elections lie in.
const { root: _, ...CONNECTION } = CONNECTION_OPTIONS;

const OPTIONS = {
  minutes: { kind: 'text', placeholder: 'N', default: '2', help: 'How long there are faults, such as 10 or 0.5.' },
  workers: { kind: 'count', default: 4, help: 'How many worker processes: 2 to 32.' },
  seed: { kind: 'count', help: 'Repeats the schedule of an earlier run. By default another one each time.' },
  only: {
    kind: 'text',
    placeholder: 'LIST',
    help: `Only these faults, separated by commas: ${Object.keys(FAULTS).join(', ')}.`,
  },
  out: {
    kind: 'text',
    placeholder: 'DIR',
    help: 'Where to write the report, the history (JSON) and a picture of it (SVG), as seed-N.txt, .json and .svg.',
  },
  judge: {
    kind: 'text',
    placeholder: 'FILE',
    help: 'Judge the history that an earlier run has written, and do nothing else.',
  },
  ...YES_OPTION,
  ...CONNECTION,
  ...COMMON_OPTIONS,
} as const;

type Options = Values<typeof OPTIONS>;

export const verify = defineCommand({
  name: 'verify',
  summary: 'torment workers at a test ensemble, and judge whether every promise was kept',
  description: [
    'Starts worker processes that lead in turn at your ensemble and write to files behind a guard. Kills and freezes them; cuts, stalls and delays ' +
      'their connections, in proxies of its own; deletes their znodes; pauses, transfers and evicts. Then it judges what happened: tokens, leases ' +
      'that overlap, stale or lost writes, work done twice, times without a leader, ghosts, metrics that disagree.',
    'It is for a test ensemble. It touches no server and no znode of others: all lies below /tenure-verify-…, which is removed in the end, however it ends ' +
      'but by KILL. To the ensemble it is a few dozen clients, of which some vanish. It says what it will do, and asks first.',
    'What you do to the servers meanwhile is up to you, and a good idea. Where all of them answer srvr and mntr over plain TCP it knows when there was ' +
      'a quorum; elsewhere a time without a leader for want of one counts as a violation.',
    'The shorter the session timeout, the more happens in the same time. By TLS there are no proxies, as a certificate is made out to its server: ' +
      'the faults of connections are left out.',
  ],
  options: OPTIONS,
  examples: [
    { what: 'Two minutes of faults', line: 'tenure verify --servers zk1:2181,zk2:2181,zk3:2181' },
    {
      what: 'In a pipeline, with all that there is to read afterwards',
      line: 'tenure verify --minutes 10 --session-timeout 4s --yes --out verified',
    },
    { what: 'Once more as it was', line: 'tenure verify --seed 4711 --only kill_worker,freeze_worker' },
    { what: 'Look at an old run again', line: 'tenure verify --judge verified/seed-4711.json' },
  ],
  exitCodes: {
    [EXIT.ok]: 'every promise was kept',
    [EXIT.failure]: 'there were violations, the workers could not start, or you said no; the message says which',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options }) {
    if (options.judge !== undefined) {
      const { history, violations } = judged(options.judge);
      return tell(context, history, violations, {});
    }
    const forMs = duration(options.minutes);
    const workers = workersOf(options.workers);
    const only = faultsOf(options.only);
    const root = `/tenure-verify-${randomBytes(4).toString('hex')}`;
    const { logger: _logger, signal: _signal, ...connect } = connectOptions(context, { ...options, root });
    const tls = connect.tls !== undefined;
    if (possibleFaults(!tls, only).length === 0) {
      throw new UsageError('--only names faults of connections alone, and by TLS there are none');
    }
    const { servers } = parseConnectString(connect.servers, '--servers');
    if (!context.json) context.err.line(plan(root, options, forMs, tls));
    await confirm(context, `Torment ${workers} workers at ${options.servers}?`, options.yes);
    const bounds = await boundsToldBy(servers, tls);
    const run = await started(() =>
      runOn({
        connect: { ...connect, root },
        workers,
        forMs,
        seed: options.seed ?? randomInt(1_000_000),
        ...(only && { only }),
        tickTimeMs: bounds?.tickMs ?? PRESUMED_TICK_MS,
        signal: context.signal,
        tell: (line) => {
          if (!context.quiet && !context.json) context.err.line(line);
        },
      }),
    );
    const { history, removed } = run;
    const violations = check(history);
    const files = options.out === undefined ? {} : { files: written(options.out, history, violations) };
    return tell(context, history, violations, { removed, ...files });
  },
});

function plan(root: string, options: Options, forMs: number, tls: boolean): string {
  const without = tls ? ' No connection is harmed, as there are no proxies by TLS.' : '';
  return [
    `${options.workers} worker processes of this command's own lead in turn at ${options.servers}, below ${root}, which is removed at the end.`,
    `For ${showDuration(forMs)} they are killed and frozen, their connections cut, stalled and delayed in proxies on this machine, their znodes deleted.${without}`,
    'Servers and everything else in the ensemble are left alone. It is meant for a test ensemble.',
  ].join('\n');
}

function duration(minutes: string): number {
  const ms = Number(minutes) * 60_000;
  if (/^\d+(\.\d+)?$/.test(minutes) && ms >= 1_000 && ms <= 24 * 3_600_000) return Math.round(ms);
  throw new UsageError(
    `--minutes ${JSON.stringify(minutes)} must be a number of minutes, such as 10 or 0.5, up to 1440`,
  );
}

function workersOf(workers: number): number {
  if (workers >= 2 && workers <= 32) return workers;
  throw new UsageError(`--workers ${workers} must be from 2 to 32`);
}

function faultsOf(only: string | undefined): readonly string[] | undefined {
  const faults = only?.split(',').map((name) => name.trim());
  const unknown = faults?.find((name) => !(name in FAULTS));
  if (unknown === undefined) return faults;
  throw new UsageError(
    `--only: there is no fault ${JSON.stringify(unknown)}`,
    `there are ${Object.keys(FAULTS).join(', ')}`,
  );
}

async function started(run: () => Promise<Run>): Promise<Run> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof NotStartedError)) throw error;
    throw new CommandFailure(EXIT.failure, 'WORKERS_NOT_READY', `the workers did not come to lead: ${error.message}`);
  }
}

function judged(file: string): { history: History; violations: readonly Violation[] } {
  try {
    const history = JSON.parse(readFileSync(file, 'utf8')) as History;
    if (history.version !== 1) throw new Error(`its version is ${JSON.stringify(history.version)}, and not 1`);
    return { history, violations: check(history) };
  } catch (error) {
    throw new UsageError(`--judge ${JSON.stringify(file)} is no history of tenure verify: ${(error as Error).message}`);
  }
}

function written(directory: string, history: History, violations: readonly Violation[]): readonly string[] {
  mkdirSync(directory, { recursive: true });
  const parts = {
    txt: `${report(history, violations)}\n`,
    json: JSON.stringify({ ...history, violations }, undefined, 1),
    svg: timeline(history, violations),
  };
  return Object.entries(parts).map(([ending, text]) => {
    const file = join(directory, `seed-${history.seed}.${ending}`);
    writeFileSync(file, text);
    return file;
  });
}

function tell(
  context: Context,
  history: History,
  violations: readonly Violation[],
  more: { removed?: boolean; files?: readonly string[] },
): number {
  if (context.json) context.out.json({ ...summary(history), violations, ...more });
  else {
    context.out.line(report(history, violations));
    if (more.files !== undefined && !context.quiet) context.err.line(`written: ${more.files.join(', ')}`);
  }
  return violations.length === 0 ? EXIT.ok : EXIT.failure;
}
