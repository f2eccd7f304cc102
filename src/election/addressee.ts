import { AmbiguousCandidateError, InvalidOptionError, UnknownCandidateError } from '../errors.js';
import { shown } from './checks.js';
import type { ElectionView } from './view.js';

/** How many candidates an error names. */
const NAMED = 5;

/** The candidate whom an operator means. */
export interface Addressee {
  readonly node: string;
  readonly id: string;
  /** 0: the first. */
  readonly place: number;
  readonly leads: boolean;
  /** The first candidate of another library that stands before it, or is it; null where there is none. */
  readonly foreignAhead: string | null;
}

/** @throws {InvalidOptionError} */
export function namesOf(option: string, wanted: unknown): string {
  if (typeof wanted === 'string' && wanted !== '') return wanted;
  throw new InvalidOptionError(option, `${option} ${shown(wanted)} must be a candidate's node or its id`);
}

/**
 * Finds a candidate by its node, or by its id where only one has that.
 *
 * @throws {UnknownCandidateError} {@link AmbiguousCandidateError}
 */
export function addressee({ candidates, leader, election }: ElectionView, wanted: string): Addressee {
  let places = candidates.flatMap(({ node }, place) => (node === wanted ? [place] : []));
  if (places.length === 0) places = candidates.flatMap(({ id }, place) => (id === wanted ? [place] : []));
  const place = places[0];
  const found = place === undefined ? undefined : candidates[place];
  if (place === undefined || found === undefined) {
    throw new UnknownCandidateError(
      `no candidate of ${JSON.stringify(election)} has the node or id ${JSON.stringify(wanted)}: ` +
        standing(candidates),
    );
  }
  if (places.length > 1) {
    throw new AmbiguousCandidateError(
      `${places.length} candidates of ${JSON.stringify(election)} have the id ${JSON.stringify(wanted)}: name one by its node, ` +
        places.map((each) => candidates[each]?.node).join(' or '),
    );
  }
  const foreign = candidates.slice(0, place + 1).find(({ data }) => data === null);
  return {
    node: found.node,
    id: found.id,
    place,
    leads: leader?.node === found.node,
    foreignAhead: foreign?.node ?? null,
  };
}

/** Who could have been meant: the first few. */
function standing(candidates: ElectionView['candidates']): string {
  const some = candidates.slice(0, NAMED).map(({ id }) => id);
  if (some.length === 0) return 'nobody stands';
  const more = candidates.length - some.length;
  return `in the queue stand ${some.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
