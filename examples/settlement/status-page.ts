import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, ServerFailedError, waitFor } from '../../deploy/local/index.js';

const COMMAND = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** A sidecar that takes part in nothing, and shows how the election stands. It doesn't outlive the demo. */
export interface StatusPage {
  /** Of its page, on loopback. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws ServerFailedError when it doesn't come up */
export async function startStatusPage(servers: string, directory: string): Promise<StatusPage> {
  const logFile = join(directory, 'sidecar.log');
  const options = ['--servers', servers, '--listen', '127.0.0.1:0', '--observe', 'settlement'];
  const server = await launch({
    name: 'the sidecar',
    command: process.execPath,
    args: [...process.execArgv, COMMAND, 'agent', ...options],
    logFile,
  });
  const url = await waitFor(
    () => {
      if (!server.running) throw new ServerFailedError('the sidecar has ended', logFile);
      return /^listening on (\S+)$/m.exec(readFileSync(logFile, 'utf8'))?.[1] ?? false;
    },
    { what: 'the sidecar to listen' },
  );
  return { url, close: () => server.stop('SIGTERM', 2_000) };
}
