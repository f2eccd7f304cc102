import { duration, el, pill, say } from './format.mjs';

const PER_PAGE = 50;

const rows = new Map();
const drawn = new Map();
let order = [];
let page = 0;
let leases = { mostMs: 0, others: {}, at: 0 };
let chosen = null;

const at = (id) => document.getElementById(id);

/** New and changed rows, and the names of those that have gone. */
export function updateRows({ rows: changed, gone }) {
  for (const row of changed) rows.set(row.election, row);
  for (const name of gone) {
    rows.delete(name);
    drawn.delete(name);
  }
}

export function rowOf(name) {
  return rows.get(name);
}

export function updateLeases(news) {
  leases = { ...news, at: performance.now() };
}

/** What the lease of a term of this sidecar has left at this moment; null where it has none. */
export function leaseLeft(row) {
  if (row === undefined || !row.own.some(({ state }) => state === 'leading' || state === 'draining')) return null;
  const said = new Map(Object.entries(leases.others)).get(row.election) ?? leases.mostMs;
  return Math.max(0, said - (performance.now() - leases.at));
}

export function choose(name) {
  chosen = name;
  drawList();
}

/** Draws the page of rows that the filters leave. */
export function drawList() {
  const text = at('text').value.trim().toLowerCase();
  const state = at('state').value;
  const found = [...rows.values()].filter((row) => passes(row, text, state));
  found.sort((a, b) => (a.election < b.election ? -1 : 1));
  const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
  page = Math.min(page, pages - 1);
  const shown = found.slice(page * PER_PAGE, (page + 1) * PER_PAGE);
  const names = shown.map(({ election }) => election);
  for (const row of shown) drawRow(row);
  // Only where the order has changed: what has the focus keeps it.
  if (names.join('\n') !== order.join('\n')) {
    order = names;
    const focused = document.activeElement?.closest?.('tr')?.dataset.election;
    at('rows').replaceChildren(...names.map((name) => drawn.get(name).tr));
    if (focused !== undefined) drawn.get(focused)?.button.focus();
  }
  const few = found.length === rows.size ? '' : ` of ${rows.size.toLocaleString()}`;
  const kind = rows.size === 1 ? 'election' : 'elections';
  say(at('count'), rows.size === 0 ? 'No elections here yet.' : `${found.length.toLocaleString()}${few} ${kind}`);
  at('pages').hidden = pages === 1;
  say(at('page'), `${page + 1} of ${pages}`);
  at('before').disabled = page === 0;
  at('after').disabled = page === pages - 1;
}

/** The numbers that run by themselves. */
export function drawLeases(stale) {
  for (const name of order) {
    const left = stale ? null : leaseLeft(rows.get(name));
    const cells = drawn.get(name);
    if (cells !== undefined) say(cells.lease, left === null ? '' : duration(left));
  }
}

export function turn(by) {
  page = Math.max(0, page + by);
  drawList();
}

/** To the first page: the filters have changed. */
export function refilter() {
  page = 0;
  drawList();
}

/** Moves the focus from row to row. */
export function step(by) {
  const now = order.indexOf(document.activeElement?.closest?.('tr')?.dataset.election);
  const name = order[Math.min(order.length - 1, Math.max(0, now + by))];
  if (name !== undefined) drawn.get(name)?.button.focus();
}

function passes({ election, state, leader, token, own }, text, wanted) {
  if (wanted === 'ours' && !own.some((candidacy) => candidacy.state === 'leading')) return false;
  if (wanted !== '' && wanted !== 'ours' && state !== wanted) return false;
  return [election, leader?.id, token].some((part) => part?.toLowerCase().includes(text) ?? false) || text === '';
}

/** Paused, and its leader has not finished yet. */
export function wordOf({ state, paused }) {
  return state === 'led' && paused !== null ? 'pausing' : (state ?? 'unknown');
}

function drawRow(row) {
  const cells = drawn.get(row.election) ?? newRow(row.election);
  const state = wordOf(row);
  if (cells.state.textContent !== state) cells.state.replaceChildren(pill(state));
  say(cells.leader, row.leader === null ? '' : row.leader.id + (row.leader.foreign ? ' (foreign)' : ''));
  say(cells.term, row.term === null ? '' : String(row.term));
  say(cells.token, row.token ?? '');
  say(cells.queue, row.candidates === null ? '' : String(row.candidates));
  cells.tr.classList.toggle('chosen', row.election === chosen);
}

function newRow(name) {
  const button = el('button', { type: 'button', class: 'link' }, name);
  const cell = (label, looks = '') => el('td', { 'data-label': label, class: looks });
  const cells = {
    button,
    state: el('td', { class: 'state' }),
    leader: cell('leader'),
    term: cell('term', 'number'),
    token: cell('token', 'number'),
    queue: cell('queue', 'number'),
    lease: cell('lease', 'number'),
  };
  const { state, leader, term, token, queue, lease } = cells;
  const tr = el('tr', {}, el('td', {}, button), state, leader, term, token, queue, lease);
  tr.dataset.election = name;
  const whole = { ...cells, tr };
  drawn.set(name, whole);
  return whole;
}
