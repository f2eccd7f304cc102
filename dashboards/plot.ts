/** Plots each panel's own queries on live data, one picture for each dashboard: `npx tsx dashboards/plot.ts --help`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Drills } from '../deploy/stack/drills.js';
import { FAST } from '../deploy/stack/pace.js';
import { Stack } from '../deploy/stack/running.js';
import { dashboards } from '../test/dashboards/dashboards.js';
import { ask, type Span } from './plot/ask.js';
import { picture } from './plot/picture.js';

const USAGE = `Plots each panel's own queries, one picture for each dashboard. It shows whether a panel says anything, without Grafana.

  npx tsx dashboards/plot.ts [--prometheus URL] [--minutes N] [--out DIR]

  --prometheus URL  ask that one; default: a stack of its own, in which things go wrong for some minutes
  --minutes N       how far back (default 5)
  --out DIR         where the pictures go (default docs/images)

Needs chromium.
`;

const { values } = parseArgs({
  options: {
    prometheus: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    out: { type: 'string', default: fileURLToPath(new URL('../docs/images', import.meta.url)) },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function plot(prometheus: string, seconds: number, subtitle: string): Promise<void> {
  mkdirSync(values.out, { recursive: true });
  const directory = mkdtempSync(join(tmpdir(), 'tenure-plot-'));
  const end = Math.floor(Date.now() / 1_000);
  const step = Math.max(1, Math.round(seconds / 150));
  // Longer than Grafana's at this pace: a frozen process misses four scrapes.
  const rateInterval = `${Math.max(15, 4 * step)}s`;
  try {
    for (const dashboard of dashboards()) {
      const span: Span = { start: end - seconds, end, step, rateInterval, variables: { election: 'settlement' } };
      const all = dashboard.uid === 'tenure-election' ? span : { ...span, variables: {} };
      const panels = await ask(prometheus, dashboard, all);
      const file = resolve(values.out, `${dashboard.uid.replace('tenure-', 'dashboard-')}.png`);
      await picture(dashboard, panels, span, { subtitle, directory, file });
      console.log(file);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A few minutes in which a lot goes wrong, and some in which nothing does. */
async function livePlot(): Promise<void> {
  const since = performance.now();
  const say = (line: string) =>
    console.log(`${((performance.now() - since) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  await using stack = await Stack.start({ pace: FAST, onProgress: say });
  const begun = Date.now();
  const drills = new Drills(stack, say);
  const calm = (ms: number) => new Promise((done) => setTimeout(done, ms));
  await calm(15_000);
  await drills.pausedLeader();
  await calm(10_000);
  await drills.frequentElections();
  await calm(20_000);
  await drills.frozenLeader();
  await calm(25_000);
  await drills.loseQuorum();
  await calm(12_000);
  await drills.restoreQuorum();
  await calm(30_000);
  const seconds = Math.ceil((Date.now() - begun) / 1_000);
  await plot(
    stack.prometheus.url,
    seconds,
    `${seconds} s of a live run: a leader that pauses, leaders that change too often, a leader that is frozen, a quorum that is lost and comes back.`,
  );
}

if (values.help) console.log(USAGE.trimEnd());
else if (values.prometheus === undefined) await livePlot();
else await plot(values.prometheus, Number(values.minutes) * 60, `${values.minutes} min of ${values.prometheus}`);
process.exit(0);
