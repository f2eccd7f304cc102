import { execFileSync, spawn } from 'node:child_process';
import { waitFor } from '../../deploy/local/index.js';

/** One end of the wire: its address, on the loopback, so that it stays when the wire is down, and the wire's own. */
export interface End {
  readonly address: string;
  readonly wire: string;
}

/** Runs a command in this namespace; what it prints is the answer. */
export const run = (command: string): Buffer => {
  const [name = '', ...args] = command.split(' ');
  return execFileSync(name, args);
};

/** A network namespace within this one, and a wire to it whose outer end is the device `outer`. */
export interface InnerNamespace {
  /** What runs a command in it. */
  readonly prefix: readonly string[];
  close(): void;
}

export async function layWire(outside: End, inside: End): Promise<InnerNamespace> {
  // The inner namespace lives as long as this process of its own does, which ends with ours.
  const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '-n', 'sleep', 'infinity'], { stdio: 'ignore' });
  const prefix = ['nsenter', '-t', String(holder.pid), '-n'];
  const here = run('readlink /proc/self/ns/net').toString();
  await waitFor(() => run(`readlink /proc/${holder.pid}/ns/net`).toString() !== here, { what: 'the inner namespace' });
  run('ip link set lo up');
  run(`ip link add outer type veth peer name inner netns ${holder.pid}`);
  run(`ip address add ${outside.address}/32 dev lo`);
  run(`ip address add ${outside.wire}/24 dev outer`);
  run('ip link set outer up');
  run(`ip route add ${inside.address} via ${inside.wire} src ${outside.address}`);
  for (const command of [
    'ip link set lo up',
    `ip address add ${inside.address}/32 dev lo`,
    `ip address add ${inside.wire}/24 dev inner`,
    'ip link set inner up',
    `ip route add ${outside.address} via ${outside.wire} src ${inside.address}`,
  ]) {
    run(`${prefix.join(' ')} ${command}`);
  }
  return { prefix, close: () => void holder.kill('SIGKILL') };
}
