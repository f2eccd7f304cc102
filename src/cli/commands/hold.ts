import { unlinkSync, writeFileSync } from 'node:fs';
import { defineCommand } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { readToken } from '../listening.js';
import { COMMON_OPTIONS } from '../options.js';
import { askSidecar, type SidecarAddress } from '../sidecar-request.js';
import { visible } from '../text.js';
import { CommandFailure, UsageError } from '../usage-error.js';

export const hold = defineCommand({
  name: 'hold',
  summary: 'keep one process from leading, without ZooKeeper',
  description: [
    'A local stop: the leaders of that process stop at once, its candidates leave their queues, and all join again when ' +
      'it is released. Other processes may lead meanwhile. It needs no ensemble, so it works when nothing else does.',
    'It goes to the sidecar of this machine; or, with --file, to the process that was given that file by its option ' +
      'holdFile: for as long as the file exists, it holds.',
  ],
  options: {
    reason: { kind: 'text', short: 'r', help: 'Why: shown in its logs and on its status page. Needed to hold.' },
    release: { kind: 'flag', help: 'End the hold.' },
    file: {
      kind: 'text',
      placeholder: 'PATH',
      help: 'Hold by this file instead: it is made, or with --release removed.',
    },
    agent: {
      kind: 'text',
      placeholder: 'URL',
      env: 'TENURE_AGENT_URL',
      default: 'http://127.0.0.1:2182',
      help: 'Where the sidecar listens.',
    },
    socket: {
      kind: 'text',
      placeholder: 'PATH',
      env: 'TENURE_AGENT_SOCKET',
      help: 'The Unix socket on which it listens instead.',
    },
    'token-file': {
      kind: 'text',
      placeholder: 'FILE',
      env: 'TENURE_AGENT_TOKEN_FILE',
      help: 'A file with the token that it asks for. The variable TENURE_AGENT_TOKEN can hold the token instead.',
    },
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'The workers of this machine', line: "tenure hold --reason 'the disk is being replaced'" },
    { what: 'Let them go on', line: 'tenure hold --release' },
    {
      what: 'A process with holdFile',
      line: "tenure hold --file /run/worker/hold --reason 'the disk is being replaced'",
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'held, or released',
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.unreachable]: 'no sidecar answers',
    [EXIT.denied]: 'the sidecar wants another token',
  },
  async run(context, { options }) {
    const { reason, release, file } = options;
    if (!release && (reason === undefined || reason.trim() === '')) {
      throw new UsageError('hold needs --reason TEXT: say why, for those who look at its log');
    }
    if (file !== undefined) byFile(file, release ? null : (reason ?? ''));
    else {
      const what = release ? { method: 'DELETE' } : { method: 'POST', body: { reason } };
      const token = readToken(context, options['token-file']);
      await askSidecar(addressOf(options.socket, options.agent), { ...what, path: '/v1/hold', token }, context.signal);
    }
    if (context.json) context.out.json({ held: !release, by: file ?? options.socket ?? options.agent });
    else if (!context.quiet)
      context.out.line(`${release ? 'released' : 'held'}: ${visible(file ?? options.socket ?? options.agent)}`);
    return EXIT.ok;
  },
});

function addressOf(socket: string | undefined, agent: string): SidecarAddress {
  if (socket !== undefined) return { socket };
  const url = URL.canParse(agent) ? new URL(agent) : undefined;
  if (url?.protocol === 'http:') return { url };
  throw new UsageError(`--agent ${JSON.stringify(agent)} must be an address such as http://127.0.0.1:2182`);
}

/** Null: no longer. */
function byFile(path: string, reason: string | null): void {
  try {
    if (reason === null) unlinkSync(path);
    else writeFileSync(path, `${reason.replace(/\s+/g, ' ')}\n`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (reason === null && code === 'ENOENT') {
      throw new CommandFailure(EXIT.failure, 'NOT_HELD', `${path} doesn't exist: nothing is held by it`);
    }
    throw new CommandFailure(EXIT.failure, 'HOLD_FILE', `${path}: ${message}`);
  }
}
