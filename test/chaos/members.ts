import { setTimeout as sleep } from 'node:timers/promises';
import type { Ensemble, ZooKeeperServer } from '../../deploy/local/index.js';
import { identityOf } from '../../src/cli/provision/identities.js';
import { CODE } from '../../src/zookeeper/wire/codes.js';
import { type Change, SUPERUSER, sendChange } from './reconfiguration.js';

/** The ensemble's configuration, as its servers hold it. */
export interface Configuration {
  readonly version: bigint;
  /** The numbers of the servers in it. */
  readonly ids: readonly number[];
  /** Its lines, as in the znode `/zookeeper/config`. */
  readonly text: string;
}

/** What became of a change: the configuration speaks for itself, whatever was answered. */
export type Outcome =
  | { readonly kind: 'changed'; readonly version: bigint }
  | { readonly kind: 'refused'; readonly code: number }
  | { readonly kind: 'unanswered' };

/** Of one question, and of one change. */
const TIMEOUT_MS = 400;
const CHANGE_TIMEOUT_MS = 1_500;

/** The Java option by which servers know {@link SUPERUSER}: nobody else may change who belongs to an ensemble. */
export function superuserOption(): string {
  return `-Dzookeeper.DigestAuthenticationProvider.superDigest=${identityOf(SUPERUSER).id}`;
}

/** Who belongs to an ensemble, and what changes that. Its servers run with {@link superuserOption}. */
export class Members {
  readonly #ensemble: Ensemble;

  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble;
  }

  /** The newest that any server knows of: asked without a session, as those end when it matters. Undefined where none answers. */
  async configuration(): Promise<Configuration | undefined> {
    const awake = this.#ensemble.servers.filter(({ running, frozen }) => running && !frozen);
    const answers = await Promise.all(awake.map((server) => server.ask('conf', TIMEOUT_MS).catch(() => '')));
    const known = answers.map(parseConfiguration).filter((each) => each !== undefined);
    return known.reduce<Configuration | undefined>(
      (newest, each) => (newest === undefined || each.version > newest.version ? each : newest),
      undefined,
    );
  }

  /** Takes a server out, once. It goes on running, and serves without a vote as long as the others let it. */
  async remove(server: ZooKeeperServer): Promise<Outcome> {
    const before = (await this.configuration())?.version ?? 0n;
    const code = await this.#change({ leaving: `${server.id}` });
    const after = await this.configuration();
    // An answer may be lost with the leader that was to give it, as it steps down.
    if (after !== undefined && after.version > before && !after.ids.includes(server.id)) {
      return { kind: 'changed', version: after.version };
    }
    return code === undefined || code === CODE.ok ? { kind: 'unanswered' } : { kind: 'refused', code };
  }

  /**
   * Puts a server back, and tries until that is done: while there is no quorum nothing else can be. It is asked for even where the server seems to
   * belong to the ensemble: a removal that nobody answered may be under way yet, and this goes behind it.
   */
  async restore(server: ZooKeeperServer): Promise<Configuration> {
    for (;;) {
      const code = await this.#change({ joining: server.line });
      const now = await this.configuration();
      if (code === CODE.ok && now?.ids.includes(server.id)) return now;
      await sleep(100);
    }
  }

  /** Those that don't belong to it; all where that can't be told. */
  async missing(): Promise<ZooKeeperServer[]> {
    const now = await this.configuration();
    return this.#ensemble.servers.filter(({ id }) => !now?.ids.includes(id));
  }

  /** What the leader answers. One that is cut off calls itself so for a while, and answers nothing. */
  async #change(change: Change): Promise<number | undefined> {
    const { servers } = this.#ensemble;
    const leads = await Promise.all(servers.map((server) => server.isLeader()));
    for (const server of servers.filter((_, index) => leads[index])) {
      const code = await sendChange(server, change, CHANGE_TIMEOUT_MS);
      if (code !== undefined) return code;
    }
    return undefined;
  }
}

/** In the answer to `conf`; undefined where the server doesn't serve now. */
function parseConfiguration(answer: string): Configuration | undefined {
  const version = /^version=([0-9a-f]+)$/m.exec(answer)?.[1];
  if (version === undefined) return undefined;
  const lines = [...answer.matchAll(/^server\.(\d+)=.+$/gm)];
  return {
    version: BigInt(`0x${version}`),
    ids: lines.map(([, id]) => Number(id)),
    text: lines.map(([line]) => line).join('\n'),
  };
}
