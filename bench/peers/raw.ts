import { monotonicMs } from '../../src/verify/monotonic.js';
import { Operator } from '../../test/support/operator.js';
import type { Arena } from './arena.js';
import type { Contender } from './contenders.js';
import type { Samples } from './figures.js';
import { Player } from './player.js';

const ZOOKEEPER_WRITE = 'ZooKeeper: a write';
const ZOOKEEPER_NEWS = 'ZooKeeper: a write → its news at another client';
const ETCD_WRITE = 'etcd: a write';
const ETCD_NEWS = 'etcd: a write → its news at another client';

/** What every hand-over is made of, with no library: the yardsticks of the same minutes. */
export class Yardsticks implements AsyncDisposable {
  readonly #arena: Arena;
  readonly #etcd: Contender;
  readonly #watcher: Operator;
  #news: (at: number) => void = () => {};

  private constructor(arena: Arena, etcd: Contender, watcher: Operator) {
    this.#arena = arena;
    this.#etcd = etcd;
    this.#watcher = watcher;
    watcher.session.onNode('/peers/raw', () => this.#news(monotonicMs()));
  }

  static async open(arena: Arena, etcd: Contender): Promise<Yardsticks> {
    await arena.operator.session.create('/peers/raw', new Uint8Array(), 'persistent');
    return new Yardsticks(arena, etcd, await Operator.at(arena.ensemble.connectString));
  }

  async measure(samples: Samples, count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      await this.#watcher.session.sync('/');
      await this.#watcher.session.read('/peers/raw', { watch: true });
      const news = new Promise<number>((resolve) => {
        this.#news = resolve;
      });
      const begin = monotonicMs();
      await this.#arena.operator.session.write('/peers/raw', Buffer.from('a value'), -1);
      samples.add(ZOOKEEPER_WRITE, monotonicMs() - begin);
      samples.add(ZOOKEEPER_NEWS, (await news) - begin);
    }
    const words = this.#etcd.candidate(this.#arena.stand(this.#etcd), '');
    const program = [words[0] ?? '', 'raw', this.#arena.etcd.addresses.join(','), String(count)];
    const player = await Player.start(program);
    await player.exited;
    for (const said of player.said.filter(({ event }) => event === 'raw')) {
      samples.add(ETCD_WRITE, Number(said['write']));
      samples.add(ETCD_NEWS, Number(said['notification']));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher.close();
  }
}
