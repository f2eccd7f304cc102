import type { CandidateView, ElectionView } from '../election/view.js';
import type { Page } from './help.js';
import type { Style } from './style.js';
import { table, visible } from './text.js';

/** An election in a list of many: seen, or not to be read. */
export type Standing =
  | ElectionView
  | {
      readonly election: string;
      readonly state: 'unreadable';
      readonly error: { readonly code: string; readonly message: string };
    };

/** A table with a line for each election. */
export function everyElection(views: readonly Standing[], { style }: Pick<Page, 'style'>): string {
  const heading = ['ELECTION', 'STATE', 'LEADER', 'TERM', 'TOKEN', 'CANDIDATES'].map(style.bold);
  const rows = views.map((view) =>
    view.state === 'unreadable'
      ? [visible(view.election), style.red('unreadable'), '-', '-', '-', '-']
      : row(view, style),
  );
  return table([heading, ...rows]);
}

function row(view: ElectionView, style: Style): string[] {
  return [
    visible(view.election),
    stateText(view, style),
    view.leader === null ? '-' : visible(view.leader.id),
    String(view.leader?.foreign === true ? '-' : view.term),
    String((view.leader?.token ?? view.token) || '-'),
    String(view.candidates.length),
  ];
}

/** Everything about one election. */
export function oneElection(view: ElectionView, { style }: Pick<Page, 'style'>): string {
  const { leader, paused } = view;
  const facts: [string, string][] = [
    ['election', visible(view.election)],
    ['state', stateText(view, style)],
  ];
  if (leader === null) facts.push(['leader', 'nobody']);
  else {
    facts.push(['leader', visible(leader.id) + (leader.foreign ? ' (of another library: it has no term)' : '')]);
    if (leader.electedAt !== null) facts.push(['elected', `${visible(leader.electedAt)} by its own clock`]);
  }
  // After the end of a term its number and token stay of interest: the next ones are higher.
  const last = leader === null && view.term > 0 ? ' (the last one)' : '';
  if (leader?.foreign !== true) facts.push(['term', view.term === 0 ? 'none yet' : `${view.term}${last}`]);
  const token = leader?.token ?? view.token;
  if (token !== null) facts.push(['token', `${token}${last}`]);
  if (paused !== null) {
    facts.push(['paused', `by ${visible(paused.by)} at ${visible(paused.at)}: ${visible(paused.reason)}`]);
  }
  const lines = table(facts.map(([name, value]) => [style.dim(name), value]));
  if (view.candidates.length === 0) {
    // What a mistyped name looks like, too.
    const ever = view.term > 0 ? '' : ', and nobody has ever led: check the name, the root and the chroot';
    return `${lines}\n\nnobody stands in the queue${ever}`;
  }
  const queue = view.candidates.map((candidate, index) => queueRow(candidate, index, leader?.node === candidate.node));
  const heading = ['', 'CANDIDATE', 'HOST', 'PID', 'JOINED', 'ZNODE'].map(style.bold);
  return `${lines}\n\n${table([heading, ...queue])}`;
}

function queueRow({ id, data, node }: CandidateView, index: number, leads: boolean): string[] {
  const place = leads ? '*' : String(index + 1);
  if (data === null) return [place, visible(id) || '(no data)', '-', '-', '-', visible(node)];
  return [place, visible(id), visible(data.host), String(data.pid), visible(data.joinedAt), visible(node)];
}

function stateText({ state, paused }: ElectionView, style: Style): string {
  if (state === 'led') return style.green('led') + (paused === null ? '' : style.yellow(', pausing'));
  return state === 'paused' ? style.yellow('paused') : style.red('vacant');
}
