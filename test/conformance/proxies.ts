import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ServerAddress } from '../../src/zookeeper/servers.js';

export type ProxyOrder = { readonly number: number; readonly party: number } & ProxyAct;

type ProxyAct =
  | { readonly act: 'start'; readonly targets: readonly ServerAddress[] }
  | { readonly act: 'hold'; readonly what: 'nothing' | 'replies' | 'all' }
  | { readonly act: 'drop' | 'loseNextReply' };

export type ProxyReport =
  | { readonly number: number; readonly ports: readonly number[] }
  | { readonly number: number; readonly failure: string };

/** The proxies of all clients of a world, one process for all. Each order is carried out when its promise resolves. */
export class Proxies {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (report: ProxyReport) => void>();
  #orders = 0;

  constructor() {
    this.#process = fork(fileURLToPath(new URL('./proxy-process.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
    });
    this.#process.on('message', (report: ProxyReport) => {
      this.#waiting.get(report.number)?.(report);
      this.#waiting.delete(report.number);
    });
    this.#process.once('exit', (code) => {
      for (const [number, told] of this.#waiting) told({ number, failure: `the proxies ended with ${code}` });
    });
  }

  order(party: number, act: ProxyAct): Promise<readonly number[]> {
    const number = this.#orders++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, (report) => {
        if ('ports' in report) resolve(report.ports);
        else reject(new Error(report.failure));
      });
      this.#process.send({ number, party, ...act } satisfies ProxyOrder);
    });
  }

  /** They go with their process. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await gone;
  }
}
