import type { ElectionView, LeaderView } from '../election/view.js';
import type { Change } from './changes.js';
import type { Style } from './style.js';
import { visible } from './text.js';

/** One line for one change. */
export function changeLine(change: Change, style: Style): string {
  return `${style.bold(visible(change.election))}: ${sentence(change, style)}`;
}

function sentence(change: Change, style: Style): string {
  switch (change.change) {
    case 'present':
      return presentState(change.view, style);
    case 'elected':
      return style.green(leads(change.leader));
    case 'updated':
      return `${visible(change.leader.id)} now says ${visible(JSON.stringify(change.leader.metadata))} about itself`;
    case 'vacant':
      return style.red(`nobody leads; the last leader was ${visible(change.leader.id)}`);
    case 'joined':
      return `${visible(change.candidate.id)} joined the queue (${change.candidates} in it)`;
    case 'left':
      return `${visible(change.candidate.id)} left the queue (${change.candidates} in it)`;
    case 'paused':
      return style.yellow(`paused by ${visible(change.pause.by)}: ${visible(change.pause.reason)}`);
    case 'resumed':
      return 'resumed';
    case 'unreadable':
      return style.red(visible(change.message));
    case 'out_of_touch':
      return style.yellow('the ensemble is out of reach: what was told last may be old');
  }
}

function presentState(view: ElectionView, style: Style): string {
  const queue = `${view.candidates.length} in the queue`;
  if (view.leader !== null) return `${style.green(leads(view.leader))} (${queue})`;
  if (view.paused !== null) return `${style.yellow(`paused by ${visible(view.paused.by)}`)} (${queue})`;
  return `${style.red('nobody leads')} (${queue})`;
}

function leads(leader: LeaderView): string {
  const term = leader.term === null ? 'of another library' : `term ${leader.term}`;
  return `${visible(leader.id)} leads, ${term}, token ${leader.token}`;
}
