import { control } from './dialogs.mjs';
import { date, duration, el, pill, say } from './format.mjs';
import { leaseLeft, rowOf, wordOf } from './list.mjs';
import { ask, follow } from './server.mjs';

/** Longer queues are shown in part: an operator looks at the front. */
const QUEUE = 200;
/** A transfer reaches no further than this. */
const REACH = 16;
const HISTORY_MS = 1_500;

const detail = () => document.getElementById('detail');
let current = null;

/** Shows one election, and goes on showing it; null shows none. */
export function show(name, { onClose, leaseMs }) {
  current?.stop();
  current = null;
  document.querySelector('main').classList.toggle('split', name !== null);
  detail().hidden = name === null;
  if (name === null) return;
  const path = `/v1/elections/${encodeURIComponent(name)}`;
  const parts = {
    lease: el('dd', {}),
    facts: el('dl', { class: 'facts live' }),
    actions: el('div', { class: 'actions' }),
    queue: el('div', { class: 'live' }, el('p', { class: 'quiet' }, 'Waiting for ZooKeeper …')),
    history: el('div', {}, el('p', { class: 'quiet' }, 'Nothing yet.')),
  };
  const close = el('button', { type: 'button', onclick: onClose }, 'Close');
  detail().replaceChildren(
    el('div', { class: 'top' }, el('h2', { tabindex: '-1' }, name), close),
    parts.facts,
    parts.actions,
    el('h3', {}, 'Queue, in order'),
    parts.queue,
    el('h3', {}, 'Last terms and changes'),
    parts.history,
  );
  detail().querySelector('h2').focus();
  let later = 0;
  const stopFollowing = follow(`${path}/events`, {
    onEvent: (event, view) => {
      if (event !== 'view') return;
      drawFacts(parts, view, name);
      drawQueue(parts, view);
      drawActions(parts, view, path);
      void drawHistory(parts, path);
      // Written behind the elections: what the last change has ended may not be in it yet.
      clearTimeout(later);
      later = setTimeout(() => void drawHistory(parts, path), HISTORY_MS);
    },
  });
  const stop = () => {
    clearTimeout(later);
    stopFollowing();
  };
  current = { name, parts, stop, leaseMs };
}

/** The numbers that run by themselves. */
export function drawDetailLease(stale) {
  if (current === null) return;
  const left = stale ? null : leaseLeft(rowOf(current.name));
  const { lease } = current.parts;
  if (left === null) {
    say(lease, stale ? 'unknown: this page is stale' : 'this sidecar does not lead');
    return;
  }
  const most = current.leaseMs();
  const bar = lease.querySelector('progress') ?? el('progress', { 'aria-label': 'What the lease has left' });
  bar.max = most;
  bar.value = left;
  const text = lease.querySelector('span') ?? el('span', {});
  say(text, ` ${duration(left)} of ${duration(most)}`);
  if (bar.parentElement !== lease) lease.replaceChildren(bar, text);
}

function drawFacts({ facts, lease }, view, name) {
  const { leader, term, token, paused } = view;
  const line = (what, ...value) => [el('dt', {}, what), el('dd', {}, ...value)];
  const own = rowOf(name)?.own ?? [];
  facts.replaceChildren(
    ...line('State', pill(wordOf(view))),
    ...(paused === null ? [] : line('Paused', `by ${paused.by}, ${date(paused.at)}: ${paused.reason}`)),
    ...line(
      'Leader',
      leader === null ? 'nobody' : leader.id,
      ...(leader?.foreign ? [' ', pill('foreign', 'warn')] : []),
    ),
    ...(leader?.electedAt ? line('Since', date(leader.electedAt)) : []),
    ...line('Term', String(leader?.term ?? term)),
    ...line('Token', leader?.token ?? token ?? '–'),
    ...(leader !== null && Object.keys(leader.metadata).length > 0
      ? line('Metadata', JSON.stringify(leader.metadata))
      : []),
    ...(own.length === 0 ? [] : line('From here', own.map(({ id, state }) => `${id}: ${state}`).join(', '))),
    el('dt', {}, 'Lease'),
    lease,
  );
}

function drawQueue({ queue }, { candidates, leader }) {
  if (candidates.length === 0) {
    queue.replaceChildren(el('p', { class: 'quiet' }, 'Nobody stands in the queue.'));
    return;
  }
  const lines = candidates
    .slice(0, QUEUE)
    .map(({ node, id, foreign }) =>
      el(
        'li',
        {},
        id === '' ? '(no name)' : id,
        node === leader?.node ? ' ' : null,
        node === leader?.node ? pill('leads', 'good') : null,
        foreign ? ' ' : null,
        foreign ? pill('foreign', 'warn') : null,
        el('div', { class: 'node quiet' }, node),
      ),
    );
  const more = candidates.length - lines.length;
  queue.replaceChildren(
    el('ol', { class: 'queue', 'aria-label': 'Queue' }, ...lines),
    ...(more > 0 ? [el('p', { class: 'quiet' }, `and ${more.toLocaleString()} more`)] : []),
  );
}

function drawActions({ actions }, view, path) {
  const name = view.election;
  const button = (text, onclick) => el('button', { type: 'button', onclick }, text);
  const pause = button('Pause …', () =>
    control({
      title: `Pause ${name}?`,
      text: 'The leader is asked to stop, and nobody leads until the election is resumed.',
      path: `${path}/pause`,
      confirm: 'Pause it',
    }),
  );
  const resume = button('Resume …', () =>
    control({
      title: `Resume ${name}?`,
      text: 'The first candidate will lead.',
      path: `${path}/resume`,
      confirm: 'Resume it',
      needsReason: false,
    }),
  );
  const others = view.candidates.slice(1, REACH + 1).filter(({ foreign }) => !foreign);
  const transfer = button('Transfer …', () => {
    const input = el('select', { required: true }, ...others.map(({ node, id }) => el('option', { value: node }, id)));
    control({
      title: `Transfer ${name}?`,
      text: 'The leader is asked to stop, and the one that you choose leads next.',
      path: `${path}/transfer`,
      confirm: 'Transfer it',
      fields: [{ name: 'to', label: 'To', input }],
    });
  });
  const wanted = view.paused === null ? [pause, ...(others.length > 0 ? [transfer] : [])] : [resume];
  const texts = (buttons) => [...buttons].map(({ textContent }) => textContent).join();
  const focused = actions.contains(document.activeElement) ? document.activeElement.textContent : null;
  const same = texts(actions.children) === texts(wanted);
  actions.replaceChildren(...wanted);
  if (same && focused !== null) wanted.find(({ textContent }) => textContent === focused)?.focus();
}

async function drawHistory({ history }, path) {
  let entries;
  try {
    ({ entries } = await ask('GET', `${path}/history`));
  } catch {
    return;
  }
  if (entries.length === 0) return;
  const newest = [...entries].reverse();
  history.replaceChildren(el('ul', { class: 'past', 'aria-label': 'History' }, ...newest.map(entryLine)));
}

function entryLine(entry) {
  const line = (what, text, when) =>
    el('li', {}, el('strong', {}, what), text, el('div', { class: 'quiet small' }, when));
  if (entry.kind === 'control') {
    return line(entry.change.replaceAll('_', ' '), ` by ${entry.by}: ${entry.reason}`, date(entry.at));
  }
  const { term, leaderId, how, leaderlessMs, from, to } = entry;
  const after = leaderlessMs === null ? '' : `; then nobody led for ${duration(leaderlessMs)}`;
  const lasted =
    from === null || to === null ? '' : `, for ${duration(Math.max(0, Date.parse(to) - Date.parse(from)))}`;
  return line(`term ${term}`, ` ${leaderId}: ${how}${after}`, `${date(from ?? to)}${lasted}`);
}
