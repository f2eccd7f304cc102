import type { Evidence, Finding } from './checks.js';
import type { TermStory } from './chronicle.js';
import { amount, clock, duration, table } from './format.js';

/** The terms, one a line. */
export function termTable({ terms, books }: Evidence): string[] {
  const rows = terms.map((story, index) => [
    String(story.term),
    String(story.token),
    story.worker,
    without(terms[index - 1], story),
    Number.isFinite(story.endedAt) ? duration(story.endedAt - story.electedAt) : '-',
    String(books.settled.filter((batch) => batch.term === story.term).length),
    story.end?.replaceAll('_', ' ') ?? 'leads on',
  ]);
  return table(['term', 'token', 'worker', 'nobody led', 'led for', 'batches', 'end'], rows);
}

function without(before: TermStory | undefined, story: TermStory): string {
  if (before === undefined || !Number.isFinite(before.endedAt)) return '-';
  return duration(story.electedAt - before.endedAt);
}

/** The books and the refusals in a few lines. */
export function totals({ books, refusals }: Evidence): string[] {
  const total = (entries: readonly { amount: number }[]) => entries.reduce((sum, entry) => sum + entry.amount, 0);
  const payments = books.paid.reduce((sum, arrived) => sum + arrived.payments, 0);
  const seconds = books.settled.map((batch) => batch.second);
  const span =
    seconds.length === 0
      ? ''
      : `, ${clock(seconds.reduce((a, b) => Math.min(a, b)))} to ${clock(seconds.reduce((a, b) => Math.max(a, b)))}`;
  const balances = books.merchants.reduce((sum, merchant) => sum + merchant.balance, 0);
  const rows = [
    ['settled batches', `${books.settled.length}${span}`],
    ['payments', `${payments}, ${amount(total(books.paid))} in all`],
    ['settled', amount(total(books.settled))],
    ['on the merchants’ accounts', `${amount(balances)}, and ${amount(books.clearing)} to be cleared`],
    ...(refusals.length === 0 ? [['refused writes', 'none']] : []),
    ...refusals.map(({ worker, second, token, highest }) => [
      'refused write',
      `${worker}, batch ${clock(second)}: token ${token} below ${highest}`,
    ]),
  ];
  return table(['', ''], rows).slice(1);
}

/** One line for each invariant, and below it what was found against it. */
export function verdict(
  findings: readonly Finding[],
  paint: (style: 'red' | 'green', text: string) => string,
): string[] {
  return findings.flatMap(({ claim, violations }) =>
    violations.length === 0
      ? [`${paint('green', 'ok')}      ${claim}`]
      : [`${paint('red', 'FAILED')}  ${claim}`, ...violations.map((violation) => `          ${violation}`)],
  );
}
