import { drawDetailLease, show } from './detail.mjs';
import { askForToken } from './dialogs.mjs';
import { duration, el, pill, say } from './format.mjs';
import { choose, drawLeases, drawList, refilter, step, turn, updateLeases, updateRows } from './list.mjs';
import { follow, STALE_MS } from './server.mjs';

const byId = (id) => document.getElementById(id);

let status = null;
let heardAt = performance.now();
let trouble = null;
let listDue = false;
let stopFollowing = () => {};

const stale = () => trouble !== null || performance.now() - heardAt > STALE_MS;

function begin() {
  stopFollowing();
  stopFollowing = follow('/v1/events', {
    onOpen: () => {
      trouble = null;
    },
    onBeat: () => {
      heardAt = performance.now();
    },
    onTrouble: (error) => {
      trouble = error;
      if (error.status === 401) {
        stopFollowing();
        askForToken(begin);
      }
      drawHealth();
    },
    onEvent: (event, data) => {
      if (event === 'status') {
        status = data;
        drawHealth();
      } else if (event === 'leases') updateLeases(data);
      else if (event === 'elections') {
        updateRows(data);
        drawSoon();
      }
    },
  });
}

/** Thousands of rows come in many pieces. */
function drawSoon() {
  if (listDue) return;
  listDue = true;
  setTimeout(() => {
    listDue = false;
    drawList();
  }, 50);
}

function drawHealth() {
  if (status === null) return;
  const { id, connected, held, stopping, quorum, session } = status;
  say(byId('who'), `sidecar ${id}`);
  const voters = quorum === null ? '' : `${quorum.healthyVoters} of ${quorum.voters} voters`;
  byId('health').replaceChildren(
    el('li', {}, connected ? pill(`session, T ${duration(session?.timeoutMs)}`, 'good') : pill('no session', 'bad')),
    el(
      'li',
      {},
      quorum === null
        ? pill('quorum unknown', 'warn')
        : pill(`${quorum.ok ? 'quorum' : 'no quorum'}: ${voters}`, quorum.ok ? 'good' : 'bad'),
    ),
  );
  const notices = [
    stopping ? ['warn', 'This sidecar stops.'] : null,
    held === null ? null : ['warn', `No candidate of this sidecar may lead: ${held}`],
    connected ? null : ['bad', 'ZooKeeper is away: what is shown here may have changed.'],
    ...(quorum?.findings ?? []).map((finding) => ['warn', finding]),
  ];
  drawNotices(notices.filter((notice) => notice !== null));
}

let shownNotices = '';

function drawNotices(notices) {
  const text = JSON.stringify(notices);
  if (text === shownNotices) return;
  shownNotices = text;
  const staleNotice = byId('stale');
  byId('notices').replaceChildren(...notices.map(([looks, notice]) => el('p', { class: looks }, notice)));
  if (staleNotice !== null) byId('notices').prepend(staleNotice);
}

/** What is shown is as old as the last word of the sidecar. */
function drawStale() {
  const old = stale();
  document.body.classList.toggle('stale', old);
  let notice = byId('stale');
  if (!old) notice?.remove();
  else {
    if (notice === null) {
      notice = el('p', { id: 'stale', class: 'bad' });
      byId('notices').prepend(notice);
    }
    // By whole seconds, and not every one: it is read aloud.
    const seconds = Math.floor((performance.now() - heardAt) / 5_000) * 5;
    say(
      notice,
      `Stale: no word from the sidecar for ${seconds < 5 ? 'some seconds' : duration(seconds * 1_000)}. Trying again.`,
    );
  }
}

function open(name) {
  choose(name);
  show(name, { onClose: () => close(name), leaseMs: () => status?.session?.leaseMs ?? 0 });
  history.replaceState(null, '', name === null ? '#' : `#${encodeURIComponent(name)}`);
}

function close(name) {
  open(null);
  for (const row of document.querySelectorAll('#rows tr')) {
    if (row.dataset.election === name) row.querySelector('button').focus();
  }
}

byId('filters').addEventListener('input', refilter);
byId('filters').addEventListener('submit', (event) => event.preventDefault());
byId('before').addEventListener('click', () => turn(-1));
byId('after').addEventListener('click', () => turn(1));
byId('rows').addEventListener('click', (event) => {
  const name = event.target.closest('tr')?.dataset.election;
  if (name !== undefined) open(name);
});
document.addEventListener('keydown', (event) => {
  if (byId('dialog').open || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === '/' && !typing) {
    event.preventDefault();
    byId('text').focus();
  } else if (event.key === 'Escape') {
    const name = document.querySelector('tr.chosen')?.dataset.election;
    if (!byId('detail').hidden) close(name);
    else if (typing) {
      byId('text').value = '';
      refilter();
    }
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && (!typing || event.target.id === 'text')) {
    event.preventDefault();
    step(event.key === 'ArrowDown' ? 1 : -1);
  }
});

setInterval(() => {
  const old = stale();
  drawStale();
  drawLeases(old);
  drawDetailLease(old);
}, 250);

begin();
if (location.hash.length > 1) open(decodeURIComponent(location.hash.slice(1)));
