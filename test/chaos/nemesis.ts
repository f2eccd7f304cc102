import type { ZooKeeperServer } from '../../deploy/local/index.js';
import { type Around as AnyAround, type Begun, type Fault, onVictim as onAnyVictim } from '../../src/verify/fault.js';
import type { Field, Seat } from './field.js';
import type { NetworkHost } from './network.js';

export type Around = AnyAround<Field, Seat>;
export type Nemesis = Fault<Field, Seat>;

export const onVictim: typeof onAnyVictim<Field, Seat> = onAnyVictim;

export const onServer =
  (
    act: (
      around: Around,
      server: ZooKeeperServer,
      host: NetworkHost,
      others: readonly NetworkHost[],
    ) => Begun | undefined,
  ): Nemesis =>
  (around) => {
    const { field, free } = around;
    const server = field.ensemble.servers[free ?? -1];
    const host = field.hosts[free ?? -1];
    if (server === undefined || host === undefined) return undefined;
    const others = field.hosts.filter((each) => each !== host);
    const begun = act(around, server, host, others);
    return begun && { ...begun, server: free as number };
  };
