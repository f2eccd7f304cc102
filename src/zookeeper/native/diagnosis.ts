import { connect } from 'node:net';
import { formatServer, type ServerAddress } from '../servers.js';

/** How long each server is given, in milliseconds. */
const LOOK_MS = 300;

/** What became of a plain connection to each server: for the message of a session that was not granted in time. */
export async function diagnose(addresses: readonly ServerAddress[]): Promise<string> {
  const found = await Promise.all(addresses.map(async (address) => `${formatServer(address)} ${await look(address)}`));
  return found.join(', ');
}

function look({ host, port }: ServerAddress): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: LOOK_MS });
    const end = (what: string) => {
      socket.destroy();
      resolve(what);
    };
    socket.once('connect', () =>
      end('accepts connections but granted no session (is it ZooKeeper, with a majority up?)'),
    );
    socket.once('timeout', () => end("doesn't answer"));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ECONNREFUSED' ? 'refuses connections' : `can't be reached (${error.code ?? error.message})`);
    });
  });
}
