import type { Response, Router } from 'express';
import { rowBody } from './rows.js';
import type { Sidecar } from './sidecar.js';
import { statusBody } from './status.js';

/** Changes that come together are told together. */
const GATHER_MS = 100;
/** Rows in one event: a page that opens on thousands shows the first before it has read the last. */
const ROWS = 200;
/** Leases of one session end together, but for those that have just begun. */
const SAME_MS = 100;

export function overviewRoute(router: Router, sidecar: Sidecar): void {
  router.get('/v1/status', (_request, response) => {
    response.json(statusBody(sidecar));
  });

  router.get('/v1/events', (_request, response) => {
    sidecar.streams.admit();
    stream(sidecar, response);
  });
}

/** All rows first, then those that have changed. A slow reader gets the newest of each when it is ready, and no backlog. */
function stream(sidecar: Sidecar, response: Response): void {
  const changed = new Set<string>(sidecar.shown);
  let shownStatus = '';
  let timer: NodeJS.Timeout | null = null;
  const beat = () => {
    const status = JSON.stringify(statusBody(sidecar));
    if (status !== shownStatus && out.ready) {
      shownStatus = status;
      out.send('status', status);
    }
    const leases = JSON.stringify(leasesBody(sidecar));
    if (leases !== '{"mostMs":0,"others":{}}') out.send('leases', leases);
    flush();
    return undefined;
  };
  const flush = () => {
    timer = null;
    while (changed.size > 0 && out.ready) {
      const names = [...changed].slice(0, ROWS);
      for (const name of names) changed.delete(name);
      const rows = names.filter((name) => sidecar.shows(name)).map((name) => rowBody(sidecar, name));
      const gone = names.filter((name) => !sidecar.shows(name));
      out.send('elections', JSON.stringify({ rows, gone }));
    }
  };
  const stop = sidecar.overview.watch((name) => {
    changed.add(name);
    timer ??= setTimeout(flush, GATHER_MS);
  });
  const out = sidecar.streams.open(response, beat, () => {
    stop();
    if (timer !== null) clearTimeout(timer);
  });
  beat();
}

/** What the leases of our own terms have left: the longest, and those that differ from it. */
function leasesBody(sidecar: Sidecar): { mostMs: number; others: Record<string, number> } {
  const left = [...sidecar.candidacies.all()]
    .filter(({ working }) => working)
    .map(({ election, remainingMs }) => ({ election, remainingMs: Math.floor(remainingMs) }));
  const mostMs = Math.max(0, ...left.map(({ remainingMs }) => remainingMs));
  const others = left.filter(({ remainingMs }) => mostMs - remainingMs > SAME_MS);
  return { mostMs, others: Object.fromEntries(others.map(({ election, remainingMs }) => [election, remainingMs])) };
}
