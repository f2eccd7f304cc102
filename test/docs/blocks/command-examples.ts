import pg from 'pg';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { presenter } from '../../../src/fencing/presenter.js';
import type { Fleet } from './fleet.js';
import type { More, Place } from './world.js';

/** How one example of the command is run. */
export interface Run {
  /** On standard output; of what is said until then, where it goes on for ever. */
  readonly says: RegExp;
  /** It goes on for ever. */
  readonly forEver?: true;
  /** It asks on a terminal, and is answered with yes. */
  readonly asks?: true;
  /** What it ends with; default 0. */
  readonly code?: number;
  readonly more?: More;
  /** It needs a sidecar at its usual address. */
  readonly sidecar?: true;
  /** The fleet, as it is when the example begins. */
  readonly before?: (fleet: Fleet, place: Place) => unknown;
  /** What stands for a name that is known only then. */
  readonly names?: (fleet: Fleet) => Promise<readonly (readonly [RegExp, string])[]>;
}

export type CommandExample = Run | { readonly notRun: string };

const script = (line: string): string => `#!/bin/sh\n${line}\n`;
const settles = script('echo "settles with token $TENURE_TOKEN $*"');

/** The books, whose fence has accepted a token. */
async function books(_fleet: Fleet, place: Place): Promise<void> {
  const pool = new pg.Pool({ connectionString: place.env['DATABASE_URL'], max: 1 });
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await guard.check(presenter(1n), 'ledger');
  await pool.end();
}

const MINUTES = 'it takes minutes; test/integration/cli runs it with shorter times';

/** Each line of docs/cli.md. The page and this are compared: neither has one that the other lacks. */
export const COMMAND_EXAMPLES: Readonly<Record<string, CommandExample>> = {
  'tenure run -e settlement -- ./settle --verbose': {
    more: { files: { settle: settles } },
    // The fleet's leader goes, and it comes first.
    before: (fleet) => fleet[Symbol.asyncDispose](),
    says: /^settles with token [1-9]\d* --verbose\n$/,
  },
  'tenure run -e mailer --restart always -- node mailer.js': {
    more: {
      files: { 'mailer.js': "console.log('mails with', process.env.TENURE_TOKEN); setInterval(() => {}, 1000);" },
    },
    forEver: true,
    says: /^mails with [1-9]\d*$/m,
  },
  'tenure run -e nightly --no-wait -- /usr/local/bin/nightly': {
    more: { files: { 'usr/local/bin/nightly': settles } },
    says: /^settles with token [1-9]\d* \n$/,
  },
  'tenure status --servers zk1:2181,zk2:2181,zk3:2181': { says: /abandoned[\s\S]*settlement.*worker-1/ },
  'tenure status settlement': { says: /worker-1[\s\S]*worker-2/ },
  "tenure status --json | jq -r '.elections[] | select(.leader == null) | .election'": {
    says: /^abandoned\npayments\/tenant-7\n$/,
  },
  'tenure leader settlement': { says: /^worker-1\n$/ },
  'tenure leader settlement --wait 1m': { says: /^worker-1\n$/ },
  'if id=$(tenure leader settlement); then echo "$id leads"; fi': { says: /^worker-1 leads\n$/ },
  'tenure watch settlement': { forEver: true, says: /settlement.*worker-1/ },
  'tenure watch': { forEver: true, says: /settlement.*worker-1/ },
  'tenure watch settlement --json | jq --unbuffered -r \'select(.change == "elected") | .leader.id\'': {
    before: (fleet) => fleet.handOnAndOn(),
    forEver: true,
    says: /^worker-\d$/m,
  },
  'tenure history settlement': { says: /worker-0.*resigned|resigned.*worker-0/ },
  "tenure history settlement --json | jq '[.entries[].leaderlessMs // 0] | add'": { says: /^\d+(\.\d+)?\n$/ },
  "tenure pause settlement --reason 'double bookings'": { says: /settlement.*pause/ },
  "tenure pause settlement --reason 'double bookings' --wait 30s": { says: /settlement.*pause/ },
  "tenure pause settlement --reason 'a hangs' --guard postgres://ops@db/books#ledger": {
    more: { database: true },
    before: books,
    says: /ledger/,
  },
  "tenure resume settlement --reason 'mended'": {
    before: (fleet) => fleet.settlement.pause({ by: 'ann', reason: 'broken' }),
    says: /settlement/,
  },
  "tenure transfer settlement --to worker-2 --reason 'host a goes down'": { says: /worker-2/ },
  "tenure transfer settlement --to worker-2 --reason 'host a goes down' --wait 30s": { says: /worker-2/ },
  "tenure evict settlement worker-1 --reason 'its host is gone'": { asks: true, says: /worker-1/ },
  "tenure evict settlement _c_6f1c7f0e-6a0b-4c55-9a57-1f1a8a4f3c11-lock-0000000041 --reason 'twins' --yes": {
    names: async (fleet) => [[/_c_6f1c\S+/, String((await fleet.nodes())[1])]],
    says: /worker-2/,
  },
  'tenure rm payments/tenant-7': { asks: true, says: /payments\/tenant-7/ },
  "tenure hold --reason 'the disk is being replaced'": { sidecar: true, says: /\w/ },
  'tenure hold --release': { sidecar: true, says: /\w/ },
  "tenure hold --file /run/worker/hold --reason 'the disk is being replaced'": {
    more: { files: { 'run/worker/README': '' } },
    says: /run\/worker\/hold/,
  },
  'tenure fence settlement': { says: /floor/ },
  'tenure fence settlement postgres://ops@db/books#ledger': {
    more: { database: true },
    before: books,
    says: /floor[\s\S]*ledger/,
  },
  "tenure fence raise settlement --to 4294967342 --reason 'restored'": { says: /4294967342/ },
  "tenure fence raise settlement postgres://ops@db/books#ledger --reason 'restored'": {
    more: { database: true },
    before: books,
    says: /\d/,
  },
  'tenure agent --servers zk1:2181,zk2:2181,zk3:2181/prod': { forEver: true, says: /listening on http:/ },
  'tenure agent --socket /run/tenure/agent.sock': {
    more: { files: { 'run/tenure/README': '' } },
    forEver: true,
    says: /listening on .*agent\.sock/,
  },
  'tenure agent --listen 0.0.0.0:2182 --token-file /etc/tenure/token': {
    more: { files: { 'etc/tenure/token': '0123456789abcdef0123456789abcdef\n' } },
    forEver: true,
    says: /listening on http:/,
  },
  'tenure provision settlement payments/eu --auth-file ops.auth --worker-auth-file workers.auth': {
    more: { files: { 'ops.auth': 'digest:ops:secret\n', 'workers.auth': 'digest:workers:secret\n' } },
    says: /settlement/,
  },
  'tenure provision settlement --tls-ca ca.pem --tls-cert ops.pem --tls-key ops.key --worker x509:CN=w': {
    notRun: 'it closes the root of a server by certificates; test/integration/security/provision.test.ts does so',
  },
  'tenure doctor --servers zk1:2181,zk2:2181,zk3:2181/prod': { says: /quorum/ },
  // One server alone is a warning.
  'tenure doctor --strict --quiet': { code: 1, says: / is alone\n/ },
  'tenure doctor --json | jq -r \'.findings[] | select(.fix) | "\\(.severity): \\(.message)"\'': {
    says: /^(notice|warning): \S/m,
  },
  'tenure calibrate --servers zk1:2181,zk2:2181,zk3:2181': {
    // For two seconds in place of a minute: too little to propose anything.
    names: async () => [[/calibrate/, 'calibrate --for 2s']],
    code: 1,
    says: /TIMEOUT[\s\S]*Nothing is proposed/,
  },
  'tenure calibrate --for 1h --worker-pause 800ms': {
    names: async () => [[/1h/, '2s']],
    code: 1,
    says: /TIMEOUT.*TOO SHORT FOR[\s\S]*Nothing is proposed/,
  },
  'tenure calibrate --inject --zookeeper-home /opt/apache-zookeeper-3.9.5-bin': { notRun: MINUTES },
  'tenure calibrate --json | jq .proposal.timeoutMs': {
    names: async () => [[/calibrate/, 'calibrate --for 2s']],
    code: 1,
    says: /^null\n$/,
  },
  'tenure verify --servers zk1:2181,zk2:2181,zk3:2181': { notRun: MINUTES },
  'tenure verify --minutes 10 --session-timeout 4s --yes --out verified': { notRun: MINUTES },
  'tenure verify --seed 4711 --only kill_worker,freeze_worker': { notRun: MINUTES },
  'tenure verify --judge verified/seed-4711.json': { notRun: MINUTES },
};
