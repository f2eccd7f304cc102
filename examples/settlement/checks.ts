import type { Books } from './books.js';
import type { Refusal, TermStory } from './chronicle.js';
import { amount, clock } from './format.js';

/** All that the checks look at. */
export interface Evidence {
  readonly terms: readonly TermStory[];
  readonly refusals: readonly Refusal[];
  readonly books: Books;
  /** The time without a quorum, from the end of the last term on: how many batches were settled before and after. */
  readonly outage: { readonly from: number; readonly until: number; readonly before: number; readonly after: number };
  /** Who should stand in the queue while all workers run, and who does, as `name (pid)`. */
  readonly queue: { readonly expected: readonly string[]; readonly found: readonly string[] };
  /** How the workers ended when they were asked to, and who was left in the queue; null where they go on. */
  readonly farewell: {
    readonly ends: readonly { readonly name: string; readonly how: string }[];
    readonly left: readonly string[];
  } | null;
}

/** One invariant, and in which ways it was violated. */
export interface Finding {
  readonly claim: string;
  readonly violations: readonly string[];
}

/** Each check looks for violations of one invariant. */
export function findings(evidence: Evidence): Finding[] {
  const { terms, books, refusals } = evidence;
  return [
    { claim: 'tokens strictly increase with the terms', violations: risingTokens(terms) },
    { claim: 'leases of two terms never overlap', violations: separateLeases(terms) },
    { claim: 'each batch is settled exactly once, none is missing', violations: onceEach(books) },
    { claim: 'after a higher token no lower one was accepted', violations: orderedWrites(books) },
    { claim: 'each batch was settled by a term that was won', violations: knownTerms(terms, books) },
    { claim: 'a stale leader tried to write, and was refused', violations: staleRefused(refusals) },
    { claim: 'without a quorum nobody led and nothing was settled', violations: silence(terms, evidence.outage) },
    { claim: 'the books balance', violations: balance(books) },
    { claim: 'nobody stands in the queue but the workers', violations: noGhosts(evidence) },
  ];
}

export function risingTokens(terms: readonly TermStory[]): string[] {
  return pairs(terms).flatMap(([a, b]) => [
    ...(b.term > a.term ? [] : [`term ${b.term} of ${b.worker} began after term ${a.term} of ${a.worker}`]),
    ...(b.token > a.token ? [] : [`term ${b.term} has token ${b.token}, not above ${a.token} of term ${a.term}`]),
  ]);
}

/** A lease ends when it runs out, or when its holder says before that it writes nothing more. */
export function separateLeases(terms: readonly TermStory[]): string[] {
  const leases = terms.map((story) => ({ ...story, over: Math.min(story.leaseUntil, story.stoppedAt) }));
  return leases.flatMap((a, index) =>
    leases
      .slice(index + 1)
      .filter((b) => b.electedAt < a.over && a.electedAt < b.over)
      .map((b) => `terms ${a.term} and ${b.term}: for ${Math.round(a.over - b.electedAt)} ms both could act`),
  );
}

export function onceEach({ opened, settled, paid }: Books): string[] {
  const times = new Map<number, number>();
  for (const { second } of settled) times.set(second, (times.get(second) ?? 0) + 1);
  const last = Math.max(opened - 1, ...settled.map((batch) => batch.second), ...paid.map((arrived) => arrived.second));
  const missing = Array.from({ length: last - opened + 1 }, (_, index) => opened + index).filter((s) => !times.has(s));
  return [
    ...(settled.length === 0 ? ['nothing was settled at all'] : []),
    ...[...times].filter(([, n]) => n > 1).map(([second, n]) => `batch ${clock(second)} was settled ${n} times`),
    ...missing.map((second) => `batch ${clock(second)} is missing`),
    ...[...times.keys()].filter((s) => s < opened).map((s) => `batch ${clock(s)} is from before the books were opened`),
  ];
}

/** By the order of the commits, which is the fence's. */
export function orderedWrites({ settled }: Books): string[] {
  let highest = 0n;
  return settled.flatMap(({ second, token }) => {
    if (token >= highest) {
      highest = token;
      return [];
    }
    return [`batch ${clock(second)} was written with token ${token} after ${highest} had been accepted`];
  });
}

export function knownTerms(terms: readonly TermStory[], { settled }: Books): string[] {
  return settled
    .filter((batch) => !terms.some((story) => story.term === batch.term && story.token === batch.token))
    .map(({ second, term, token }) => `batch ${clock(second)}: nobody has won term ${term} with token ${token}`);
}

export function staleRefused(refusals: readonly Refusal[]): string[] {
  const wrong = refusals.filter(({ token, highest }) => token >= highest);
  return [
    ...(refusals.length === 0 ? ['no write was refused'] : []),
    ...wrong.map(({ worker, token, highest }) => `${worker} was refused with token ${token}, not below ${highest}`),
  ];
}

export function silence(terms: readonly TermStory[], { from, until, before, after }: Evidence['outage']): string[] {
  return [
    ...terms
      .filter(({ electedAt, endedAt }) => electedAt < until && endedAt > from)
      .map(({ worker, term }) => `${worker} led term ${term} in this time`),
    ...(after === before ? [] : [`${after - before} batches were settled in this time`]),
  ];
}

export function balance({ settled, paid, clearing, merchants }: Books): string[] {
  const bySecond = new Map(paid.map((arrived) => [arrived.second, arrived]));
  const total = (entries: readonly { amount: number }[]) => entries.reduce((sum, entry) => sum + entry.amount, 0);
  return [
    ...(total(paid) === total(settled) ? [] : [`${amount(total(paid))} paid, ${amount(total(settled))} settled`]),
    ...(clearing === 0 ? [] : [`${amount(clearing)} remain on the clearing account`]),
    ...merchants
      .filter((merchant) => merchant.balance !== merchant.paid)
      .map(({ name, balance, paid }) => `the ${name} has got ${amount(balance)} of the ${amount(paid)} paid to it`),
    ...settled
      .filter(({ second, payments, amount }) => {
        const arrived = bySecond.get(second) ?? { payments: 0, amount: 0 };
        return arrived.payments !== payments || arrived.amount !== amount;
      })
      .map(({ second, payments }) => `batch ${clock(second)} settled ${payments} payments, but others arrived`),
  ];
}

export function noGhosts({ queue, farewell }: Pick<Evidence, 'queue' | 'farewell'>): string[] {
  const { expected, found } = queue;
  const surplus = found.filter((candidate, index) => !expected.includes(candidate) || found.indexOf(candidate) < index);
  return [
    ...surplus.map((candidate) => `${candidate} stands in the queue, and shouldn't`),
    ...expected.filter((candidate) => !found.includes(candidate)).map((candidate) => `${candidate} isn't in the queue`),
    ...(farewell?.left ?? []).map((candidate) => `${candidate} was left in the queue`),
    ...(farewell?.ends ?? []).filter(({ how }) => how !== 'code 0').map(({ name, how }) => `${name} ended with ${how}`),
  ];
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.slice(1).map((item, index) => [items[index] as T, item]);
}
