import type { Notification } from './inbox.js';

/** What a pager would show, a line each. */
export function told({ receiver, alerts }: Notification): string[] {
  return alerts.flatMap(({ status, labels, annotations }) => {
    const about = labels['election_name'] ?? labels['resource'] ?? labels['cluster'] ?? '';
    const head = `${receiver.toUpperCase()}  ${status}: ${labels['alertname']} (${labels['severity']}) ${about}`;
    if (status !== 'firing') return [head];
    return [head, `      ${annotations['description']}`, `      ${annotations['runbook_url']}`];
  });
}
