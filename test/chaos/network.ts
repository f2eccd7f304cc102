import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { onExit, waitFor } from '../../deploy/local/index.js';

/** Runs a command; what it prints is the answer. */
function run(words: readonly string[], input?: string): string {
  const [name = '', ...args] = words;
  return execFileSync(name, args, { encoding: 'utf8', ...(input !== undefined && { input }) });
}

/** Packets from `blocked` addresses are dropped on arrival, and so many of a hundred from all others. */
const TABLE = `
table inet chaos {
  set blocked { type ipv4_addr; }
  chain arrival { type filter hook input priority 0; ip saddr @blocked drop; }
}
`;

/** A host of its own on one wire with all others: a network namespace. */
export class NetworkHost {
  readonly name: string;
  readonly address: string;
  /** What runs a command on it. */
  readonly prefix: readonly string[];
  readonly #holder: ChildProcess;
  /** How many faults block each address now. */
  readonly #blocked = new Map<string, number>();

  constructor(name: string, address: string, holder: ChildProcess) {
    this.name = name;
    this.address = address;
    this.#holder = holder;
    this.prefix = ['nsenter', '-t', String(holder.pid), '-n'];
  }

  /** From now on nothing that they send arrives here. What we send does, unless they do the same. */
  block(others: readonly NetworkHost[]): void {
    for (const { address } of others) {
      const before = this.#blocked.get(address) ?? 0;
      this.#blocked.set(address, before + 1);
      if (before === 0) this.#nft(`add element inet chaos blocked { ${address} }`);
    }
  }

  /** Takes one {@link block} back. */
  unblock(others: readonly NetworkHost[]): void {
    for (const { address } of others) {
      const left = (this.#blocked.get(address) ?? 1) - 1;
      this.#blocked.set(address, left);
      if (left === 0) this.#nft(`delete element inet chaos blocked { ${address} }`);
    }
  }

  /** Loses so many of a hundred packets that arrive; 0 none. */
  lose(percent: number): void {
    this.#nft('flush chain inet chaos arrival');
    this.#nft('add rule inet chaos arrival ip saddr @blocked drop');
    // Its own loopback is no wire.
    if (percent > 0) this.#nft(`add rule inet chaos arrival iifname "wire" numgen random mod 100 < ${percent} drop`);
  }

  close(): void {
    this.#holder.kill('SIGKILL');
  }

  #nft(command: string): void {
    run([...this.prefix, 'nft', '-f', '-'], command);
  }
}

/** The hosts of one run, on one bridge. Needs a network namespace of our own, as root in it. */
export class Network {
  readonly hosts: NetworkHost[] = [];

  constructor() {
    run(['ip', 'link', 'set', 'lo', 'up']);
    run(['ip', 'link', 'add', 'bridge', 'type', 'bridge']);
    run(['ip', 'address', 'add', '10.30.0.1/24', 'dev', 'bridge']);
    run(['ip', 'link', 'set', 'bridge', 'up']);
  }

  /** @param number from 2 to 254 */
  async host(name: string, number: number): Promise<NetworkHost> {
    // The namespace lives as long as this process of its own does, which ends with ours.
    const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '-n', 'sleep', 'infinity'], { stdio: 'ignore' });
    onExit(() => holder.kill('SIGKILL'));
    const here = run(['readlink', '/proc/self/ns/net']);
    const inside = () => run(['readlink', `/proc/${holder.pid}/ns/net`]) !== here;
    await waitFor(inside, { what: `the namespace of ${name}`, intervalMs: 5 });
    const host = new NetworkHost(name, `10.30.0.${number}`, holder);
    const port = `port${number}`;
    run(['ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'wire', 'netns', String(holder.pid)]);
    run(['ip', 'link', 'set', port, 'master', 'bridge', 'up']);
    for (const command of ['link set lo up', `address add ${host.address}/24 dev wire`, 'link set wire up']) {
      run([...host.prefix, 'ip', ...command.split(' ')]);
    }
    run([...host.prefix, 'nft', '-f', '-'], TABLE);
    this.hosts.push(host);
    return host;
  }

  close(): void {
    for (const host of this.hosts) host.close();
  }
}
