import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { DriverUnavailableError } from '../../errors.js';

/** A native callback: return code, its text, then what the operation yields. Nothing of ours may run inside of it. */
export type Reply<A extends unknown[] = []> = (rc: number, text: string, ...results: A) => void;

/** A znode's stat as the addon makes it: 64-bit numbers rounded to doubles, the owner in unpadded hex. */
export interface RawStat {
  readonly czxid: number;
  readonly mzxid: number;
  readonly version: number;
  readonly cversion: number;
  readonly numChildren: number;
  readonly ctime: Date;
  readonly mtime: Date;
  readonly ephemeralOwner: string;
}

/** One line of an ACL, in the addon's words; the package's own wrapper calls the first `perms`. */
export interface RawAcl {
  readonly perm: number;
  readonly scheme: string;
  readonly auth: string;
}

export interface InitOptions {
  connect: string;
  timeout: number;
  debug_level: number;
  host_order_deterministic: boolean;
  response_counter_limit: number;
  client_id?: string;
  client_password?: string;
}

/**
 * The part of the addon's object that we use. Each operation's return value says whether the request was queued: only
 * then is its callback ever called. Left out on purpose: `get_acl`, as a failing one crashes the process; `set_servers`,
 * as it closes the socket under libuv's hands and the process aborts; and the `aw_*` operations, as each of their watchers
 * leaks, and one function used on two clients aborts the process.
 */
export interface Handle {
  /** Called by the addon with each event: set it before `init`. */
  emit: (event: string, self: unknown, detail?: unknown) => void;
  init(options: InitOptions): unknown;
  close(): void;
  add_auth(scheme: string, credential: string, reply: Reply): number;
  a_create(path: string, data: Uint8Array, flags: number, reply: Reply<[path: string]>): number;
  a_delete_(path: string, version: number, reply: Reply): number;
  a_set(path: string, data: Uint8Array, version: number, reply: Reply<[stat: RawStat]>): number;
  a_get(path: string, watch: boolean, reply: Reply<[stat: RawStat, data: Buffer | null]>): number;
  a_exists(path: string, watch: boolean, reply: Reply<[stat: RawStat]>): number;
  a_get_children2(path: string, watch: boolean, reply: Reply<[names: string[] | null, stat: RawStat]>): number;
  a_sync(path: string, reply: Reply<[path: string]>): number;
  a_set_acl(path: string, version: number, acl: readonly RawAcl[], reply: Reply): number;
  readonly state: number;
  readonly client_id: string;
  readonly client_password: string;
  readonly timeout: number;
}

/** Makes a client that isn't connected yet. A closed one can't be used again: make another. */
export type HandleFactory = () => Handle;

/**
 * Loads the `zookeeper` package.
 *
 * @throws DriverUnavailableError when it isn't installed, wasn't built, is another version's, or this is a worker thread
 */
export async function loadAddon(): Promise<HandleFactory> {
  // A second isolate that loads the addon crashes the process, at the latest when the thread ends.
  if (!isMainThread) {
    throw new DriverUnavailableError(
      'the native driver runs on the main thread only: open sessions there, or use a child process',
    );
  }
  let module: { default?: unknown };
  try {
    module = (await import('zookeeper')) as unknown as { default?: unknown };
  } catch (cause) {
    throw new DriverUnavailableError(installed() ? NOT_BUILT : NOT_INSTALLED, { cause });
  }
  return factoryFrom(module.default);
}

const NOT_INSTALLED =
  'the native driver needs the package "zookeeper", which is not installed: ' +
  'run "with_sock_cloexec=yes npm install --save-exact zookeeper@7.3.0" (on Linux it compiles: python3, make and g++ are needed)';

const NOT_BUILT =
  'the package "zookeeper" is installed but was not built: allow its install script ("npm install-scripts approve zookeeper"), ' +
  'unset the environment variable ZOOKEEPER if there is one (its installer takes that for an order not to build), and run ' +
  '"with_sock_cloexec=yes npm rebuild zookeeper" (it compiles: python3, make and g++ are needed)';

function installed(): boolean {
  try {
    createRequire(import.meta.url).resolve('zookeeper/package.json');
    return true;
  } catch {
    return false;
  }
}

/** A client of each package that was found good. See {@link factoryFrom} for why they are kept. */
const probes = new Map<unknown, unknown>();

/**
 * The addon's object without the package's JavaScript around it, which formats each call for a log even when that is off.
 *
 * The client that is looked at is kept for ever: one that is collected before the first `init` has silenced the addon writes
 * "ZooKeeper destructor invoked" to standard output, which is the program's own.
 */
function factoryFrom(Client: unknown): HandleFactory {
  const make = (): Handle => {
    const { native } = new (Client as new (config: object) => { native: Handle })({});
    return native;
  };
  if (probes.has(Client)) return make;
  try {
    const probe: Partial<Handle> | undefined = make();
    if (typeof probe?.init === 'function' && typeof probe.a_get_children2 === 'function') {
      probes.set(Client, probe);
      return make;
    }
  } catch {
    // Not a class at all: the same message.
  }
  throw new DriverUnavailableError(
    'the installed package "zookeeper" is not one that the native driver knows: run "npm install zookeeper@7.3.0"',
  );
}
