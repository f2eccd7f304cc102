import { driverChoice, openDriver } from '../../driver.js';
import { sessionsPath } from '../../election/names.js';
import type { Driver } from '../../election/port.js';
import { parseConnectString, type ServerAddress } from '../../zookeeper/servers.js';
import { calibration, distributions } from '../calibrate/findings.js';
import { histogram } from '../calibrate/histogram.js';
import { type Injected, inject } from '../calibrate/inject.js';
import { type Measured, measure } from '../calibrate/measure.js';
import { OwnEnsemble } from '../calibrate/own-ensemble.js';
import { choicesText, drawn, injectedText, proposalText } from '../calibrate/text.js';
import { defineCommand } from '../command.js';
import { type ConnectionValues, connectOptions } from '../connection.js';
import type { Context } from '../context.js';
import { boundsToldBy } from '../doctor/look-at-ensemble.js';
import { surroundings } from '../doctor/surroundings.js';
import { showDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { summary } from '../statistics.js';
import { UsageError } from '../usage-error.js';

export const calibrate = defineCommand({
  name: 'calibrate',
  summary: 'find out how long the session timeout should be',
  description: [
    'Writes through the quorum as renewals do, twenty times a second, under the load that there is now, and watches how this ' +
      'machine lets a process run: how late timers come, garbage collections, waiting for a processor. From the longest ' +
      'silences it estimates how often a leader would lose its term for no reason, for each session timeout, and proposes the ' +
      'shortest that is good enough.',
    'Run it where the workers run, with their CPU limits, at a busy hour, and for long. The first INT or TERM ends the ' +
      'measurement early; what there is counts.',
    'With --inject it starts an ensemble of its own besides, on this machine, from a ZooKeeper distribution (--zookeeper-home) ' +
      'and with Java; stands still for parts of the timeout; and kills servers, to see how long a leader hears nothing. Your ensemble ' +
      'is not touched by that.',
  ],
  options: {
    for: { kind: 'duration', default: 60_000, help: 'How long to measure. At least 30s for a proposal.' },
    'accept-one-in': {
      kind: 'duration',
      default: 30 * 86_400_000,
      placeholder: 'DURATION',
      help: 'One false failover of a leader in so long is acceptable.',
    },
    'worker-pause': { kind: 'duration', help: 'The longest pause of your workers, which the timeout has to outlast.' },
    inject: { kind: 'flag', help: 'Try pauses and restarts of servers, with an ensemble of its own.' },
    'zookeeper-home': {
      kind: 'text',
      placeholder: 'DIR',
      env: 'ZOOKEEPER_HOME',
      help: 'An unpacked ZooKeeper, for --inject: the folder that holds lib/.',
    },
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'A first impression, in a minute', line: 'tenure calibrate --servers zk1:2181,zk2:2181,zk3:2181' },
    {
      what: 'For an hour, with workers that stand still for up to 800 ms',
      line: 'tenure calibrate --for 1h --worker-pause 800ms',
    },
    {
      what: 'With restarts of servers',
      line: 'tenure calibrate --inject --zookeeper-home /opt/apache-zookeeper-3.9.5-bin',
    },
    { what: 'The number alone', line: 'tenure calibrate --json | jq .proposal.timeoutMs' },
  ],
  exitCodes: {
    [EXIT.ok]: 'a timeout is proposed',
    [EXIT.failure]: 'no timeout that the ensemble grants is good enough, or too little was measured',
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options }) {
    const home = options['zookeeper-home'];
    if (options.inject && home === undefined) {
      throw new UsageError(
        '--inject needs a ZooKeeper distribution: --zookeeper-home DIR, or the environment variable ZOOKEEPER_HOME',
        'unpack one from https://zookeeper.apache.org/releases.html; Java is needed, too',
      );
    }
    const around = surroundings(context, options);
    const tell = (line: string) => {
      if (!context.quiet && !context.json) context.err.line(line);
    };
    tell(`measuring for ${showDuration(options.for)}, under the load that there is now`);
    const driver = await driverFor(context, options, around.servers);
    const measured = await measure(around.host, driver, sessionsPath(around.root), options.for, context.signal);
    const bounds = await boundsToldBy(around.servers, around.tls);
    const injected =
      options.inject && home !== undefined && !context.signal.aborted
        ? await injectWith(home, context, options, tell)
        : null;
    const found = calibration(measured, injected, {
      acceptedEveryMs: options['accept-one-in'],
      workerPauseMs: options['worker-pause'],
      bounds,
    });
    if (context.json) context.out.json({ ...found, distributions: inNumbers(measured) });
    else {
      const { out } = context;
      const parts = distributions(measured).map(({ name, values }) => drawn(name, values, out));
      const { throttledMs } = measured.pauses;
      if (throttledMs !== null && throttledMs > 0) {
        parts.push(
          `the control group held this process back for ${showDuration(throttledMs)} in all: raise its CPU limit`,
        );
      }
      if (injected !== null) parts.push(injectedText(injected, out));
      parts.push(choicesText(found, out), proposalText(found, options['accept-one-in'], out));
      out.line(parts.join('\n\n'));
    }
    return found.proposal === null ? EXIT.failure : EXIT.ok;
  },
});

function inNumbers(measured: Measured) {
  return Object.fromEntries(
    distributions(measured).map(({ name, values }) => [name, { ...summary(values), buckets: histogram(values) }]),
  );
}

/** The driver that workers would have by these options: how soon it finds another server is part of the answer. */
function driverFor(context: Context, options: ConnectionValues, servers: readonly ServerAddress[]): Promise<Driver> {
  const connecting = connectOptions(context, options);
  const reach = {
    servers,
    sessionTimeoutMs: options['session-timeout'],
    connectTimeoutMs: options['connect-timeout'],
    auth: connecting.auth,
    onWarning: (message: string) => context.logger.warn({}, message),
  };
  return openDriver(driverChoice(connecting), reach, context.logger);
}

async function injectWith(
  home: string,
  context: Context,
  options: ConnectionValues,
  tell: (line: string) => void,
): Promise<Injected> {
  tell('starting an ensemble of its own');
  // Ten ticks are T: within the bounds that a server grants by itself.
  const tickMs = Math.round(Math.min(2_000, Math.max(100, options['session-timeout'] / 10)));
  const ensemble = await OwnEnsemble.start(home, tickMs, context.signal);
  try {
    const own = {
      ...options,
      tls: false,
      'tls-ca': undefined,
      'tls-cert': undefined,
      'tls-key': undefined,
      acl: undefined,
      'auth-file': undefined,
    };
    const driver = await driverFor(context, own, parseConnectString(ensemble.connectString).servers);
    const { host } = surroundings(context, own);
    return await inject(host, driver, ensemble, tell, context.signal);
  } finally {
    await ensemble.close();
  }
}
