import { electionName } from '../../election/names.js';
import { WORKER_RIGHTS } from '../../election/rights.js';
import { type Acl, PERMISSIONS } from '../../zookeeper/acl.js';
import { parseConnectString } from '../../zookeeper/servers.js';
import type { Credential } from '../../zookeeper/session-options.js';
import { wireDriver } from '../../zookeeper/wire/driver.js';
import type { WireSession } from '../../zookeeper/wire/session.js';
import { defineCommand } from '../command.js';
import { connectOptions, credentials } from '../connection.js';
import type { Context } from '../context.js';
import { aclLine } from '../doctor/surroundings.js';
import { EXIT } from '../exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { apply, type Step } from '../provision/apply.js';
import { distinct, type Identity, identityOf, parseIdentity } from '../provision/identities.js';
import { aclFor, type Parties, plan } from '../provision/plan.js';
import { table, visible } from '../text.js';
import { UsageError } from '../usage-error.js';

const { acl: _acl, driver: _driver, ...REACH_OPTIONS } = CONNECTION_OPTIONS;

export const provision = defineCommand({
  name: 'provision',
  summary: 'prepare elections, with ACLs that let workers do their part and no more',
  description: [
    'Makes the persistent znodes of the root and of each ELECTION, and gives them ACLs: everything to those who administer, to ' +
      'workers only what they need, to all others nothing. Run it before the first worker starts, and again to add an ' +
      'election or to change who is let in: it changes what differs and no data. Without an ELECTION it prepares the root.',
    'Who administers is whoever runs it, by --auth-file, TENURE_AUTH or a certificate, and --admin. Workers can then make no ' +
      'election of their own: an unknown name is refused to them. What they create themselves is closed by their option acl, ' +
      'which is printed at the end.',
    'An identity is scheme:id: x509:CN=worker (the subject of a certificate, as the server writes it), digest:name:hash, ' +
      'or auth: for the credentials of this command. A hash of a password is made from a file by --worker-auth-file, ' +
      'with the servers’ default digest, SHA-1.',
  ],
  operands: [{ name: 'ELECTION', repeated: true, help: 'names of elections' }],
  options: {
    worker: {
      kind: 'text',
      multiple: true,
      placeholder: 'SCHEME:ID',
      help: 'Who works: may join, lead and leave. Several times for several.',
    },
    'worker-auth-file': {
      kind: 'text',
      placeholder: 'FILE',
      help: 'The credentials that workers present, one on each line, as they get them by --auth-file: so that no hash is needed.',
    },
    admin: {
      kind: 'text',
      multiple: true,
      placeholder: 'SCHEME:ID',
      help: 'Who may do everything besides whoever runs this: prepares, removes, looks after.',
    },
    'dry-run': { kind: 'flag', help: 'Change nothing; say what would be done.' },
    ...REACH_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    {
      what: 'Two elections for a fleet with one password',
      line: 'tenure provision settlement payments/eu --auth-file ops.auth --worker-auth-file workers.auth',
    },
    {
      what: 'By certificates; first look',
      line: 'tenure provision settlement --tls-ca ca.pem --tls-cert ops.pem --tls-key ops.key --worker x509:CN=w',
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'all is as it should be; with --dry-run, what is to be done is known',
    [EXIT.failure]: true,
    [EXIT.usage]: true,
    [EXIT.unreachable]: true,
    [EXIT.denied]: 'an ACL keeps us from it: what was done stays; run it with credentials that may administer',
  },
  async run(context, { options, operands }) {
    const names = [...new Set(operands.map(electionName))];
    const { servers, chroot } = parseConnectString(options.servers, '--servers');
    const {
      auth = [],
      tls,
      sessionTimeoutMs = 0,
      connectTimeoutMs = 0,
    } = connectOptions(context, {
      ...options,
      acl: undefined,
      driver: 'wire',
    });
    const fromFile = options['worker-auth-file'];
    const known = fromFile === undefined ? [] : credentials(context, fromFile, '--worker-auth-file').map(identityOf);
    if (options.worker.length + known.length === 0) {
      throw new UsageError(
        'who works? Give --worker or --worker-auth-file',
        '--worker auth: means the credentials of this command',
      );
    }
    // What is wrong on the command line is said before anything is reached.
    for (const text of options.worker) parseIdentity('--worker', text, []);
    for (const text of options.admin) parseIdentity('--admin', text, []);
    const session = await wireDriver({ servers, sessionTimeoutMs, connectTimeoutMs, auth, tls }).open(context.signal);
    try {
      const own = await identities(session, auth);
      const of = (option: string, texts: readonly string[]) =>
        texts.flatMap((text) => parseIdentity(option, text, own));
      const parties: Parties = {
        own,
        admins: distinct(of('--admin', options.admin)),
        workers: distinct([...known, ...of('--worker', options.worker)]),
      };
      const wanted = plan(chroot + options.root, names, parties);
      const steps = await apply(session, wanted, (acl) => withAuth(acl, own), options['dry-run']);
      const standing = await candidates(session, steps);
      tell(context, steps, parties, standing, options['dry-run']);
      return EXIT.ok;
    } finally {
      await session.close();
    }
  },
});

/** Whom the server takes us for. @throws {UsageError} where that is nobody in particular */
async function identities(session: WireSession, auth: readonly Credential[]): Promise<Identity[]> {
  const shown = (await session.whoAmI()).filter(({ scheme }) => scheme === 'x509' || scheme === 'sasl');
  const own = distinct([...auth.map(identityOf), ...shown]);
  if (own.length > 0) return own;
  throw new UsageError(
    'who administers? Nobody who has shown no credentials could be let in',
    'give --auth-file, the variable TENURE_AUTH, or --tls-cert with --tls-key',
  );
}

/** Our own lines by the scheme `auth`: the server itself writes down whom it takes us for, so that we are never shut out. */
function withAuth(acl: readonly Acl[], own: readonly Identity[]): Acl[] {
  const ours = (line: Acl) => own.some(({ scheme, id }) => scheme === line.scheme && id === line.id);
  const permissions = acl.find(ours)?.permissions ?? 0;
  return [{ scheme: 'auth', id: '', permissions }, ...acl.filter((line) => !ours(line))];
}

/** How many stand in each queue that was there before. */
async function candidates(session: WireSession, steps: readonly Step[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const { path, action } of steps) {
    if (action === 'create' || !path.endsWith('/queue')) continue;
    const names = (await session.children(path))?.names ?? [];
    if (names.length > 0) found.set(path, names.length);
  }
  return found;
}

const READ = PERMISSIONS.read;

function tell(
  { out, json, quiet }: Context,
  steps: readonly Step[],
  parties: Parties,
  standing: ReadonlyMap<string, number>,
  dryRun: boolean,
): void {
  // Who administers reads what workers create, and deletes it by a right to the queue.
  const workersAcl = text(aclFor(parties, WORKER_RIGHTS.own, READ));
  if (json) {
    const znodes = steps.map(({ path, action, acl, before }) => ({
      path,
      action,
      acl: acl.map(aclLine),
      before: before?.map(aclLine) ?? null,
    }));
    out.json({ dryRun, znodes, workersAcl, candidates: Object.fromEntries(standing) });
    return;
  }
  const shown = quiet ? steps.filter(({ action }) => action !== 'keep') : steps;
  if (shown.length > 0)
    out.line(table(shown.map(({ path, action, acl }) => [action, visible(path), visible(text(acl))])));
  if (quiet) return;
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const done = dryRun ? 'nothing was done: ' : '';
  const [make, change] = dryRun ? ['to be created', 'to be changed'] : ['created', 'changed'];
  out.line(`${done}${count('create')} ${make}, ${count('change')} ${change}, ${count('keep')} as they should be`);
  for (const [path, number] of standing) {
    out.line(
      `${number} stand in ${visible(path)}: what they have created keeps its ACL, and who isn't let in can't go on`,
    );
  }
  out.line(`workers need: --driver wire --acl ${visible(quoted(workersAcl))}, or TENURE_ACL`);
}

function text(acl: readonly Acl[]): string {
  return acl
    .map(aclLine)
    .map(({ scheme, id, permissions }) => `${scheme}:${id}:${permissions}`)
    .join(',');
}

/** For a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
