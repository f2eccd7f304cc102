import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ALL_INSTRUMENTS, type Instrument } from '../../src/telemetry/instruments.js';

/** Values of an attribute that has no list of its own. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'election.name': ['settlement'],
  'error.type': ['connection_lost'],
  resource: ['ledger'],
  task: ['payouts'],
  server: ['zk1', 'zk2'],
  version: ['0.1.0'],
  'node.version': ['20.19.0'],
};

/** What the gauges show, where 1 would mean nothing. */
const GAUGES: Readonly<Record<string, number>> = {
  leader_election_term: 7,
  leader_election_candidates: 3,
  leader_election_recovering: 0,
  leader_election_paused: 0,
  leader_election_foreign_leader: 0,
  leader_election_session_timeout_seconds: 10,
  leader_election_quorum_voters: 3,
  leader_election_quorum_voters_healthy: 3,
  leader_election_task_last_success_timestamp_seconds: 1_700_000_000,
};

function attributeSets(instrument: Instrument): string[] {
  return Object.entries(instrument.attributes).reduce<string[]>(
    (sets, [name, values]) => {
      const all = typeof values === 'number' ? (SAMPLES[name] ?? ['any']) : values;
      return sets.flatMap((set) => all.map((value) => `${set}${set && ','}${name.replaceAll('.', '_')}="${value}"`));
    },
    [''],
  );
}

/** A page of metrics with every instrument of the table. `count` is what each counter has reached. */
export function page(count: number): string {
  const lines = ALL_INSTRUMENTS.flatMap((instrument) => {
    const { prometheus, kind, bounds = [] } = instrument;
    return attributeSets(instrument).flatMap((set) => {
      if (kind === 'counter') return [`${prometheus}{${set}} ${count}`];
      if (kind === 'gauge') return [`${prometheus}{${set}} ${GAUGES[prometheus] ?? 1}`];
      const buckets = [...bounds, '+Inf'].map(
        (bound) => `${prometheus}_bucket{${set}${set && ','}le="${bound}"} ${count}`,
      );
      return [...buckets, `${prometheus}_count{${set}} ${count}`, `${prometheus}_sum{${set}} ${count * 0.001}`];
    });
  });
  return `${lines.join('\n')}\n`;
}

/** A process that shows every instrument that there is, and whose counters go on. */
export class FakeProcess implements AsyncDisposable {
  #count = 0;
  readonly #server = createServer((_request, response) => {
    this.#count += 3;
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(page(this.#count));
  });

  /** @returns its `host:port` */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
