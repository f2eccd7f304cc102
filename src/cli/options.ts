import type { OptionSpecs } from './command.js';

/** Every command takes these. */
export const COMMON_OPTIONS = {
  json: { kind: 'flag', help: 'Print JSON instead of text, also for errors. Tokens are decimal strings.' },
  quiet: { kind: 'flag', short: 'q', help: 'Print nothing but the result and errors.' },
  'log-level': {
    kind: 'text',
    placeholder: 'LEVEL',
    choices: ['silent', 'error', 'warn', 'info', 'debug'],
    default: 'warn',
    env: 'TENURE_LOG_LEVEL',
    help: 'What is told on standard error while it works. With debug an error comes with its stack.',
  },
  help: { kind: 'flag', short: 'h', help: 'Explain the command.' },
} as const satisfies OptionSpecs;

/** For commands that talk to the ensemble. Credentials come from a file or the environment, as `ps` shows everybody the command line. */
export const CONNECTION_OPTIONS = {
  servers: {
    kind: 'text',
    short: 's',
    placeholder: 'LIST',
    env: 'TENURE_SERVERS',
    default: 'localhost:2181',
    help: 'The ensemble: host:port of its servers, separated by commas, then an optional chroot: zk1:2181,zk2:2181/prod.',
  },
  root: {
    kind: 'text',
    placeholder: 'PATH',
    env: 'TENURE_ROOT',
    default: '/tenure',
    help: 'Where all elections lie, below the chroot.',
  },
  'session-timeout': {
    kind: 'duration',
    env: 'TENURE_SESSION_TIMEOUT',
    default: 10_000,
    help: 'The session timeout to ask for.',
  },
  'connect-timeout': {
    kind: 'duration',
    env: 'TENURE_CONNECT_TIMEOUT',
    default: 15_000,
    help: 'How long it may take to get a session.',
  },
  driver: {
    kind: 'text',
    placeholder: 'DRIVER',
    choices: ['native', 'wire'],
    env: 'TENURE_DRIVER',
    help:
      'Who speaks to ZooKeeper: the official C client, or our own code, which TLS needs and --acl takes by itself. ' +
      'Without it native, and wire where that is not installed.',
  },
  tls: {
    kind: 'flag',
    help: "Connect by TLS, to the servers' secureClientPort, and trust whom Node.js trusts. The options below imply it.",
  },
  'tls-ca': {
    kind: 'text',
    placeholder: 'FILE',
    env: 'TENURE_TLS_CA',
    help: "Who may have signed the servers' certificates (PEM).",
  },
  'tls-cert': {
    kind: 'text',
    placeholder: 'FILE',
    env: 'TENURE_TLS_CERT',
    help: 'The certificate to show (PEM), together with --tls-key.',
  },
  'tls-key': {
    kind: 'text',
    placeholder: 'FILE',
    env: 'TENURE_TLS_KEY',
    help: 'Its key (PEM). The variable TENURE_TLS_PASSPHRASE holds its passphrase where it has one.',
  },
  acl: {
    kind: 'text',
    placeholder: 'LIST',
    env: 'TENURE_ACL',
    help:
      'Who may do what to znodes that are created, as setAcl of zkCli.sh takes it: scheme:id:permissions, separated by ' +
      'commas. auth::cdrwa keeps them to those with the same credentials. Without it everybody may do everything.',
  },
  'auth-file': {
    kind: 'text',
    placeholder: 'FILE',
    env: 'TENURE_AUTH_FILE',
    help: 'Credentials for ACLs, one on each line, such as digest:user:password. The variable TENURE_AUTH can hold one instead.',
  },
} as const satisfies OptionSpecs;
