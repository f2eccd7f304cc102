import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { defineCommand } from '../command.js';
import { connectOptions } from '../connection.js';
import { EXIT } from '../exit-codes.js';
import { listenAddress, readToken } from '../listening.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';

export const agent = defineCommand({
  name: 'agent',
  summary: 'serve workers in any language over HTTP, and a status page',
  description: [
    'Takes part in elections for workers that can speak HTTP, and shows how elections stand. It serves before there is a ' +
      'session with the ensemble, and for as long as it runs. What it serves is described by /openapi.json.',
    'It listens on loopback, where everybody on this machine may ask. Beyond loopback it starts only with a token, from ' +
      '--token-file or the variable TENURE_AGENT_TOKEN.',
    'On TERM or INT it asks its leaders to stop, waits for their word, announces what has ended, and goes.',
  ],
  options: {
    listen: {
      kind: 'text',
      placeholder: 'HOST:PORT',
      env: 'TENURE_AGENT_LISTEN',
      default: '127.0.0.1:2182',
      help: 'Where to listen; port 0 takes a free one.',
    },
    socket: {
      kind: 'text',
      placeholder: 'PATH',
      env: 'TENURE_AGENT_SOCKET',
      help: 'Listen on a Unix socket instead, for the same user alone.',
    },
    'token-file': {
      kind: 'text',
      placeholder: 'FILE',
      env: 'TENURE_AGENT_TOKEN_FILE',
      help: 'A file with the token that clients have to show. The variable TENURE_AGENT_TOKEN can hold the token instead.',
    },
    'allow-host': {
      kind: 'text',
      placeholder: 'NAME',
      multiple: true,
      help: 'Another name that requests may give in their Host header, without a port.',
    },
    id: {
      kind: 'text',
      env: 'TENURE_AGENT_ID',
      help: 'What candidates are called that name no id. Default: the name of this machine, and the process.',
    },
    observe: {
      kind: 'text',
      placeholder: 'ELECTION',
      multiple: true,
      help: 'Show this election although nobody here takes part.',
    },
    deadline: { kind: 'duration', default: 2_000, help: 'The longest that a client may act on one answer.' },
    'drain-timeout': {
      kind: 'duration',
      default: 10_000,
      help: 'How long leaders may take to stop when the sidecar is told to.',
    },
    'max-elections': { kind: 'count', default: 100, help: 'Elections at a time.' },
    'max-candidacies': { kind: 'count', default: 1_000, help: 'Candidacies at a time.' },
    'max-streams': { kind: 'count', default: 1_000, help: 'Streams of events at a time.' },
    'max-body': { kind: 'count', default: 16_384, help: 'The largest body of a request, in bytes.' },
    'no-probe': { kind: 'flag', help: "Don't ask each server of the ensemble how it does." },
    'validate-responses': {
      kind: 'flag',
      help: 'Check answers against the document too, and fail on those that break it.',
    },
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
    'log-level': {
      ...COMMON_OPTIONS['log-level'],
      default: 'info',
      help: 'What is told on standard error, as JSON lines.',
    },
  },
  examples: [
    { what: 'For the workers of this machine', line: 'tenure agent --servers zk1:2181,zk2:2181,zk3:2181/prod' },
    { what: 'For the containers of a pod', line: 'tenure agent --socket /run/tenure/agent.sock' },
    { what: 'Beyond this machine', line: 'tenure agent --listen 0.0.0.0:2182 --token-file /etc/tenure/token' },
  ],
  exitCodes: {
    [EXIT.ok]: 'told to stop by a signal, and done',
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options }) {
    const token = readToken(context, options['token-file']);
    const listen = options.socket === undefined ? listenAddress(options.listen, token) : { socket: options.socket };
    // While modules load the young generation would grow by tens of megabytes, which are never given back.
    setFlagsFromString('--semi-space-growth-factor=1');
    // Late, for these are large: no other command needs them.
    const { Agent } = await import('../../agent/agent.js');
    const { startTelemetry, telemetryLogger } = await import('../../telemetry/index.js');
    const { destination } = await import('pino');
    const telemetry = await startTelemetry({ serviceName: 'tenure-agent', prometheus: false });
    const logger = telemetryLogger({ level: options['log-level'] }, destination(2));
    const running = await Agent.start({
      connect: {
        // With the native driver a connection that is accepted while it drops its own can be left without an answer.
        driver: 'wire',
        ...connectOptions(context, options),
        logger,
        probeEnsemble: !options['no-probe'],
      },
      listen,
      id: options.id ?? `${hostname()}:${process.pid}`,
      deadlineMs: options.deadline,
      drainTimeoutMs: options['drain-timeout'],
      limits: {
        elections: options['max-elections'],
        candidacies: options['max-candidacies'],
        streams: options['max-streams'],
        bodyBytes: options['max-body'],
        changesPerSecond: 50,
        stallMs: 10_000,
      },
      observe: options.observe,
      token,
      allowedHosts: options['allow-host'],
      telemetry,
      logger,
      validateResponses: options['validate-responses'],
    });
    context.out.line(`listening on ${running.url}`);
    try {
      await Promise.race([stopped(context.signal), running.failed]);
    } finally {
      await running.close();
    }
    return EXIT.ok;
  },
});

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
