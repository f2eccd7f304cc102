import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An alert as Alertmanager's webhooks tell it. */
export interface Alert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
}

/** A notification that has arrived. */
export interface Notification {
  readonly receiver: string;
  readonly alerts: readonly Alert[];
  /** By `performance.now()`. */
  readonly at: number;
}

/** Takes what Alertmanager sends: what a pager, a chat or a mailbox would be. */
export class Inbox implements AsyncDisposable {
  readonly received: Notification[] = [];
  readonly #onArrival: (notification: Notification) => void;
  readonly #server = createServer(async (request, response) => {
    const at = performance.now();
    let body = '';
    for await (const chunk of request) body += chunk;
    const notification = { ...(JSON.parse(body) as Notification), at };
    this.received.push(notification);
    this.#onArrival(notification);
    response.end();
  });

  constructor(onArrival: (notification: Notification) => void = () => {}) {
    this.#onArrival = onArrival;
  }

  /** @param port 0 takes a free one */
  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The first of these that came after `since`, with when; undefined while there is none. */
  find(
    receiver: string,
    status: Alert['status'],
    labels: Readonly<Record<string, string>>,
    since = 0,
  ): (Alert & { readonly at: number }) | undefined {
    for (const { receiver: to, alerts, at } of this.received) {
      if (to !== receiver || at < since) continue;
      const found = alerts.find(
        (alert) =>
          alert.status === status && Object.entries(labels).every(([name, value]) => alert.labels[name] === value),
      );
      if (found) return { ...found, at };
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
