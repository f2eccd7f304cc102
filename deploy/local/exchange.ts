import { connect } from 'node:net';

/** Sends `request` over TCP and returns what comes back until the peer closes or `complete` is satisfied. */
export function exchange(
  host: string,
  port: number,
  request: string,
  complete: (answer: string) => boolean = () => false,
  timeoutMs = 1_000,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let answer = '';
    const fail = (reason: string): void => {
      clearTimeout(deadline);
      socket.destroy();
      reject(new Error(`${host}:${port}: ${reason}`));
    };
    const deadline = setTimeout(() => fail(`no answer in ${timeoutMs} ms`), timeoutMs);
    socket.setEncoding('utf8');
    socket.once('connect', () => socket.write(request));
    socket.on('data', (chunk) => {
      answer += chunk;
      if (complete(answer)) socket.destroy();
    });
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => {
      clearTimeout(deadline);
      resolve(answer);
    });
  });
}
