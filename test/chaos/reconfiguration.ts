import { XID } from '../../src/zookeeper/wire/codes.js';
import { Connection } from '../../src/zookeeper/wire/connection.js';
import { NO_SESSION } from '../../src/zookeeper/wire/handshake.js';
import type { JuteWriter } from '../../src/zookeeper/wire/jute.js';
import { authFrame, closeSession, type Request, requestFrame } from '../../src/zookeeper/wire/requests.js';

/** Who may change an ensemble: its servers have to know the digest. */
export const SUPERUSER = { scheme: 'digest', credential: 'super:chaos' } as const;

/** A server's line in the configuration that is to be added, or the number of one that is to go. */
export type Change = { readonly joining: string } | { readonly leaving: string };

const RECONFIG = 16;
const ANY_VERSION = -1n;

function reconfig(change: Change): Request {
  const write = (writer: JuteWriter): void => {
    optional(writer, 'joining' in change ? change.joining : undefined);
    optional(writer, 'leaving' in change ? change.leaving : undefined);
    // The third would be a whole new list.
    optional(writer, undefined);
    writer.long(ANY_VERSION);
  };
  return { op: RECONFIG, write };
}

function optional(writer: JuteWriter, value: string | undefined): void {
  if (value === undefined) writer.int(-1);
  else writer.text(value);
}

/**
 * Asks a server for a change of the ensemble, in a session of its own that ends with it. Resolves with the server's code: 0 where it is
 * done; undefined where no answer came in time, and nobody knows.
 */
export function sendChange(
  server: { readonly host: string; readonly clientPort: number },
  change: Change,
  timeoutMs: number,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    let accepted = false;
    const settle = (code: number | undefined): void => {
      clearTimeout(timer);
      if (accepted) connection.send(requestFrame(2, closeSession));
      // Once that is on its way.
      setImmediate(() => connection.end());
      resolve(code);
    };
    const timer = setTimeout(() => settle(undefined), timeoutMs);
    const hello = { identity: NO_SESSION, timeoutMs: 2 * timeoutMs, lastZxid: 0n };
    const connection = new Connection(
      { host: server.host, port: server.clientPort, tls: null, hello, deadlineMs: timeoutMs, maxReplyBytes: 1 << 20 },
      {
        accepted: () => {
          accepted = true;
          connection.send(authFrame(SUPERUSER.scheme, SUPERUSER.credential));
          connection.send(requestFrame(1, reconfig(change)));
        },
        received: ({ xid, code }) => {
          if (xid === 1 || (xid === XID.auth && code !== 0)) settle(code);
        },
        ended: () => settle(undefined),
      },
    );
  });
}
