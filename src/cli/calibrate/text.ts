import { showDuration, writeDuration } from '../duration.js';
import type { Page } from '../help.js';
import { summary } from '../statistics.js';
import { table, wrap } from '../text.js';
import type { Calibration } from './findings.js';
import { bar, histogram } from './histogram.js';
import type { Injected } from './inject.js';
import type { Choice } from './proposal.js';

const YEAR_MS = 365 * 86_400_000;

/** One distribution, a line for each range. */
export function drawn(name: string, values: readonly number[], { style, columns }: Page): string {
  const facts = summary(values);
  if (facts === null) return `${style.bold(name)}: none`;
  const buckets = histogram(values);
  const most = Math.max(...buckets.map(({ count }) => count));
  const rows = buckets.map(({ fromMs, toMs, count }) => [
    `  ${showDuration(fromMs)} – ${showDuration(toMs)}`.padEnd(20),
    String(count).padStart(7),
    style.cyan(bar(count, most, Math.max(10, columns - 34))),
  ]);
  const numbers = `half below ${showDuration(facts.p50)}, 99 % below ${showDuration(facts.p99)}, longest ${showDuration(facts.max)}`;
  return `${style.bold(name)}: ${facts.count}; ${numbers}\n${table(rows)}`;
}

/** What was injected, and what it cost. */
export function injectedText({ pauses, leaderRestartsMs, followerRestartsMs }: Injected, { style }: Page): string {
  const list = (values: readonly number[]) => values.map(showDuration).join(', ');
  return [
    `${style.bold('injected, with an ensemble of its own')}; silences that followed:`,
    ...pauses.map(
      ({ pausedMs, silenceMs }) =>
        `  this process stood still for ${showDuration(pausedMs)}: ${showDuration(silenceMs)}`,
    ),
    `  a follower was killed and started again: ${list(followerRestartsMs)}`,
    `  the leader was killed and started again: ${list(leaderRestartsMs)}`,
  ].join('\n');
}

/** What each timeout buys. */
export function choicesText({ choices, proposal }: Calibration, { style }: Page): string {
  const heading = ['', 'TIMEOUT', 'LEASE', 'OUTLASTS', 'FAILOVER WITHIN', 'FALSE FAILOVER EVERY', 'TOO SHORT FOR'].map(
    style.bold,
  );
  const rows = choices.map((choice) => [
    choice === proposal ? '>' : '',
    showDuration(choice.timeoutMs),
    showDuration(choice.leaseMs),
    showDuration(choice.outlastsMs),
    showDuration(choice.failoverMs),
    every(choice.falseEveryMs),
    choice.tooShortFor.join(', '),
  ]);
  return table([heading, ...rows]);
}

export function proposalText(found: Calibration, acceptedEveryMs: number, { style, columns }: Page): string {
  const { proposal } = found;
  const paragraphs =
    proposal === null ? [noneText(found, acceptedEveryMs)] : [style.bold(bestText(proposal)), oddsText(proposal)];
  paragraphs.push(
    `Measured for ${showDuration(found.measuredMs)}, which by itself shows no more than that troubles are rarer than one in ` +
      `${showDuration(found.measuredMs / 3)}; beyond that it is extrapolated from the longest silences, on the heavy side. Measure for ` +
      'longer, and when it is busiest (--for 1h).',
    'This process is not your worker: its own garbage collections and computations come on top. Give their longest pause with ' +
      '--worker-pause; the metric leader_election_process_pause_duration_seconds knows it.',
  );
  if (found.expired)
    paragraphs.unshift(
      style.red('The session expired while it was measured: the timeout that was asked for is too short.'),
    );
  return paragraphs.map((text) => wrap(text, columns)).join('\n');
}

function bestText({ timeoutMs, leaseMs }: Choice): string {
  return `Proposed: --session-timeout ${writeDuration(timeoutMs)} (a lease of ${showDuration(leaseMs)}).`;
}

function oddsText({ failoverMs, outlastsMs, falsePerDay, falseEveryMs }: Choice): string {
  return (
    `After a death that nobody announces somebody leads again within ${showDuration(failoverMs)}; where the lifeline sees it, or ` +
    `after a resignation, within milliseconds. A leader keeps its term through ${showDuration(outlastsMs)} without a confirmed ` +
    `write. It is expected to lose one for no reason once in ${every(falseEveryMs)} (${percent(falsePerDay ?? 0)} a day).`
  );
}

function noneText({ enough, choices, mustOutlast }: Calibration, acceptedEveryMs: number): string {
  if (!enough) return 'Nothing is proposed: too little was measured. Measure for at least half a minute.';
  const longest = choices.at(-1);
  const worst = mustOutlast.map(({ what, ms }) => `${what} (${showDuration(ms)})`).join(', ');
  return (
    `Nothing is proposed: even ${showDuration(longest?.timeoutMs ?? 0)}, the longest that is granted, is too short for a false ` +
    `failover in ${every(acceptedEveryMs)} and for ${worst}. Raise maxSessionTimeout on the servers, accept more with ` +
    '--accept-one-in, or mend what is slow: see the distributions.'
  );
}

function every(ms: number | null): string {
  if (ms === null) return '?';
  if (ms > 1_000 * YEAR_MS) return 'over 1000 years';
  return ms > 2 * YEAR_MS ? `${Math.round(ms / YEAR_MS)} years` : showDuration(ms);
}

function percent(share: number): string {
  if (share < 0.0001) return 'less than 0.01 %';
  return `${Number((100 * share).toPrecision(2))} %`;
}
