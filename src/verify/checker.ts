import { gapBoundMs, gaps, longestBeforeFirstMs } from './gaps.js';
import type { ActSpan, Happening, History } from './history.js';
import type { Violation } from './violation.js';

type Check = (history: History) => Violation[];

/** Judges a run by its history alone. No violation means that all of docs/verification.md's promises were kept in it. */
export function check(history: History): Violation[] {
  return CHECKS.flatMap((each) => each(history));
}

/** One token, one term, one holder. */
const tokensAreUnique: Check = (history) => {
  const holders = new Map<string, string>();
  const violations: Violation[] = [];
  for (const { token, term, who, at } of claims(history)) {
    const holder = `${who} in term ${term}`;
    const known = holders.get(token);
    holders.set(token, known ?? holder);
    if (known !== undefined && known !== holder) {
      violations.push({
        kind: 'token_reused',
        at: at - history.beginAt,
        detail: `token ${token} of ${known} was held by ${holder} too`,
      });
    }
  }
  return violations;
};

/** A later term has a higher token, and no number is given twice. */
const tokensIncrease: Check = (history) => {
  const violations: Violation[] = [];
  const byTerm = [...claims(history)].sort((a, b) => a.term - b.term);
  for (const [index, later] of byTerm.entries()) {
    const earlier = byTerm[index - 1];
    if (earlier === undefined || (earlier.term === later.term && earlier.token === later.token)) continue;
    if (later.term > earlier.term && BigInt(later.token) > BigInt(earlier.token)) continue;
    violations.push({
      kind: 'token_not_increasing',
      at: later.at - history.beginAt,
      detail: `term ${later.term} has token ${later.token}, term ${earlier.term} had ${earlier.token}`,
    });
  }
  return violations;
};

/** By acts on a resource that checks nothing: nobody acts once a later term has. */
const leasesDoNotOverlap: Check = (history) => {
  const violations: Violation[] = [];
  const spans = [...history.acts].sort((a, b) => (BigInt(a.token) < BigInt(b.token) ? -1 : 1));
  for (const [index, later] of spans.entries()) {
    for (const earlier of spans.slice(0, index)) {
      const overlap = earlier.last - later.first;
      if (overlap <= 0 || earlier.token === later.token) continue;
      violations.push({
        kind: 'leases_overlap',
        at: later.first - history.beginAt,
        detail: `${earlier.who} in term ${earlier.term} acted for ${overlap.toFixed(1)} ms after ${later.who} in term ${later.term} had begun`,
      });
    }
  }
  return violations;
};

/** Who has been told that its term is over acts no more, whether anybody else leads or not. */
const lossIsTheEnd: Check = ({ happenings, acts, beginAt }) =>
  happenings.flatMap((each): Violation[] => {
    if (each.type !== 'term' || each.what !== 'lost') return [];
    const { who, term, token, at } = each;
    const after = acts.find((span) => span.who === who && span.token === token && span.last > at);
    if (after === undefined) return [];
    const detail = `${who} acted for ${(after.last - at).toFixed(1)} ms after it was told that it had lost term ${term}`;
    return [{ kind: 'acted_after_loss', at: at - beginAt, detail }];
  });

const noStaleWrite: Check = (history) => {
  const violations: Violation[] = [];
  let highest = 0n;
  for (const { token, who, order } of [...history.writes].sort((a, b) => a.order - b.order)) {
    if (BigInt(token) < highest) {
      violations.push({
        kind: 'stale_write_accepted',
        detail: `write ${order} of ${who} with token ${token} was accepted after ${highest}`,
      });
    } else highest = BigInt(token);
  }
  return violations;
};

const writersHaveClaimed: Check = (history) => {
  const held = new Set(claims(history).map(({ who, token }) => `${who} ${token}`));
  return history.writes
    .filter(({ who, token }) => !held.has(`${who} ${token}`))
    .map(({ who, token, order }) => ({
      kind: 'write_without_claim',
      detail: `write ${order} has token ${token}, which ${who} never held`,
    }));
};

/** A fence is raised by a higher token, and that is claimed first. */
const refusalsHaveCause: Check = (history) => {
  const held = claims(history);
  return history.happenings.flatMap((each): Violation[] => {
    if (each.type !== 'refused') return [];
    const { who, token, at } = each;
    if (held.some((claim) => claim.at <= at && BigInt(claim.token) > BigInt(token))) return [];
    const detail = `a write of ${who} was refused, and nobody had a token above its ${token}`;
    return [{ kind: 'refused_without_cause', at: at - history.beginAt, detail }];
  });
};

const noLostWrite: Check = ({ writes, acknowledged }) => {
  const kept = new Set(writes.map(({ key }) => key));
  return acknowledged
    .filter((key) => !kept.has(key))
    .map((key) => ({ kind: 'write_lost', detail: `write ${key} was confirmed, and isn't there` }));
};

const batchesOnce: Check = ({ batches }) =>
  batches
    .filter(({ times }) => times !== 1)
    .map(({ key, times }) => ({ kind: 'batch_not_once', detail: `${key} had its effect ${times} times` }));

const gapsAreShortAndExplained: Check = (history) => {
  const bound = gapBoundMs(history);
  return gaps(history).flatMap(({ from, to, longestMs, cause }) => {
    const violations: Violation[] = [];
    const where = `between ${from.who} in term ${from.term} and ${to.who} in term ${to.term}`;
    const at = from.last - history.beginAt;
    if (longestMs > bound) {
      const detail = `nobody led for ${longestMs.toFixed(0)} ms without a disturbance ${where}: more than ${bound.toFixed(0)}`;
      violations.push({ kind: 'gap_too_long', at, detail });
    }
    if (cause === undefined && !announced(history, from)) {
      const detail = `nobody led for ${(to.first - from.last).toFixed(0)} ms ${where}, and nothing had happened`;
      violations.push({ kind: 'gap_unexplained', at, detail });
    }
    return violations;
  });
};

const somebodyBegins: Check = (history) => {
  const longestMs = longestBeforeFirstMs(history);
  const bound = gapBoundMs(history);
  if (longestMs <= bound) return [];
  const detail = `nobody led for ${longestMs.toFixed(0)} ms without a disturbance before the first term: more than ${bound.toFixed(0)}`;
  return [{ kind: 'gap_too_long', at: 0, detail }];
};

const somebodyLeads: Check = (history) => {
  const last = Math.max(...history.acts.map((span) => span.last));
  if (history.endAt - last <= history.settings.sessionTimeoutMs) return [];
  return [
    { kind: 'no_leader_in_the_end', detail: `the last act was ${(history.endAt - last).toFixed(0)} ms before the end` },
  ];
};

const nothingIsLeft: Check = ({ aftermath }) => {
  const { alive, candidates, sessionNodes, watches, watchesEach, left } = aftermath;
  const violations: Violation[] = left.map((what) => ({ kind: 'left_behind', detail: `${what} was left` }));
  for (const id of new Set([...candidates, ...alive])) {
    const stands = candidates.filter((each) => each === id).length;
    const lives = alive.includes(id) ? 1 : 0;
    if (stands > lives) {
      violations.push({
        kind: 'ghost_candidate',
        detail: `${id} stands in the queue ${stands} times, ${lives} of it lives`,
      });
    } else if (stands < lives) {
      violations.push({ kind: 'missing_candidate', detail: `${id} lives, and doesn't stand in the queue` });
    }
  }
  if (watches > watchesEach * alive.length) {
    violations.push({ kind: 'watches_leaked', detail: `${watches} watches for ${alive.length} candidates` });
  }
  if (sessionNodes > alive.length) {
    violations.push({ kind: 'sessions_leaked', detail: `${sessionNodes} session nodes for ${alive.length} workers` });
  }
  return violations;
};

const metricsAgree: Check = ({ counters }) =>
  counters.flatMap(({ who, acquired, lost, refused }) =>
    Object.entries({ acquired, lost, refused })
      .filter(([, { metric, told }]) => metric !== told)
      .map(([name, { metric, told }]): Violation => {
        return { kind: 'metrics_disagree', detail: `${who} counted ${metric} ${name}, and told of ${told}` };
      }),
  );

const somethingHappened: Check = ({ acts, writes, batches, happenings, counters }) => {
  const enough =
    acts.length > 1 &&
    writes.length > 0 &&
    batches.length > 0 &&
    counters.length > 0 &&
    happenings.some(({ type }) => type === 'fault');
  if (enough) return [];
  const detail = `${acts.length} terms, ${writes.length} writes, ${batches.length} batches, ${counters.length} workers with metrics`;
  return [{ kind: 'nothing_to_judge', detail }];
};

const CHECKS: readonly Check[] = [
  tokensAreUnique,
  tokensIncrease,
  leasesDoNotOverlap,
  lossIsTheEnd,
  noStaleWrite,
  writersHaveClaimed,
  refusalsHaveCause,
  noLostWrite,
  batchesOnce,
  gapsAreShortAndExplained,
  somebodyBegins,
  somebodyLeads,
  nothingIsLeft,
  metricsAgree,
  somethingHappened,
];

type Claim = Pick<ActSpan, 'who' | 'term' | 'token'> & { readonly at: number };

/** Everybody who has said that a term was theirs. */
function claims({ happenings, acts }: History): Claim[] {
  const told = happenings.filter((each): each is Extract<Happening, { type: 'term' }> => each.type === 'term');
  return [...told, ...acts.map((span) => ({ ...span, at: span.first }))];
}

/** Whether the earlier leader stepped down by itself or was asked to. */
function announced({ happenings }: History, { token }: ActSpan): boolean {
  return happenings.some((each) => each.type === 'term' && each.what === 'draining' && each.token === token);
}
