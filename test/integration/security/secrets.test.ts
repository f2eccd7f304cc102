import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { type ConnectOptions, connect, type Logger } from '../../../src/index.js';
import { sessionIdOf } from '../../../src/zookeeper/wire/handshake.js';
import { CommandRun } from '../../support/command-run.js';
import { helpersOf } from '../../support/helpers.js';
import { invoke } from '../../support/invocation.js';
import { Operator } from '../../support/operator.js';
import { sessionPassword } from '../../support/session-password.js';
import { SidecarProcess } from '../agent/sidecar-process.js';

/* What may be known to nobody is looked for wherever it could have got to: logs, errors, processes' lists, answers. */

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const PASSWORD = 'pw-6f1f2c9e-never-shown';
const TOKEN = 'tk-0b7d11aa-never-shown';
const PASSPHRASE = 'pp-91c3d0fe-never-shown';
const SECRETS = [PASSWORD, TOKEN, PASSPHRASE];

let ensemble: Ensemble;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenure-secrets-'));
  ensemble = await startEnsemble({ size: 1, tickTime: 200, fsync: false });
});

afterAll(async () => {
  await ensemble?.close();
  rmSync(folder, { recursive: true, force: true });
});

function secretFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return path;
}

/** The secrets that a text holds, in any of the forms in which they could slip out; `more` besides those of all tests. */
function found(text: string, more: readonly string[] = []): string[] {
  return [...SECRETS, ...more].filter((secret) => {
    const forms = [
      secret,
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('hex'),
    ];
    return forms.some((form) => text.toLowerCase().includes(form.toLowerCase()));
  });
}

/** Everything of a value that could be printed, whoever prints it. */
const whole = (value: unknown): string =>
  `${inspect(value, { depth: 20, showHidden: true, getters: true, maxStringLength: null, maxArrayLength: null })}\n` +
  `${(value as Error | undefined)?.stack ?? ''}`;

/** A session's password in hex, as it would be printed. */
const passwordOf = (sessionId: string) => Buffer.from(sessionPassword(sessionIdOf(sessionId))).toString('hex');

function logging(): { logger: Logger; text: () => string } {
  const lines: string[] = [];
  const line = (fields: object, message: string) => void lines.push(`${message} ${whole(fields)}`);
  return { logger: { debug: line, info: line, warn: line, error: line }, text: () => lines.join('\n') };
}

it('finds what it looks for', () => {
  expect(found(`x ${Buffer.from(TOKEN).toString('base64')} ${PASSWORD.toUpperCase()}`)).toEqual([PASSWORD, TOKEN]);
  expect(whole(new Error('outer', { cause: { deep: { in: [new Error(PASSPHRASE)] } } }))).toContain(PASSPHRASE);
});

describe.each(['wire', 'native'] as const)('a process that embeds the module, with the %s driver', (driver) => {
  const settings = (more: Partial<ConnectOptions> = {}): ConnectOptions => ({
    servers: ensemble.connectString,
    root: `/secrets-${driver}`,
    driver,
    auth: [{ scheme: 'digest', credential: `worker:${PASSWORD}` }],
    acl: [{ scheme: 'auth', id: '', permissions: 'cdrwa' }],
    sessionTimeoutMs: 4_000,
    ...more,
  });

  it('logs none, shows none of them in its objects, and hands the lifeline none where others could see it', async () => {
    const { logger, text } = logging();
    await using tenure = await connect(settings({ logger }));
    const passwords = [passwordOf(tenure.session?.id ?? '')];
    const election = tenure.election('e');
    const term = await election.campaign();
    const helpers = helpersOf(process.pid);
    expect(helpers.length).toBeGreaterThan(0);
    for (const pid of helpers) {
      for (const file of ['cmdline', 'environ']) {
        expect(found(readFileSync(`/proc/${pid}/${file}`, 'latin1'), passwords), file).toEqual([]);
      }
    }
    const view = await election.current();
    for (const shown of [tenure, election, term, view]) expect(found(whole(shown), passwords)).toEqual([]);
    await term.resign();
    await tenure.close();
    expect(text()).toContain('elected');
    expect(found(text(), passwords)).toEqual([]);
  });

  it('throws none', async () => {
    const secret = [{ scheme: 'digest', credential: `worker:${PASSWORD}` }];
    const { logger, text } = logging();
    const away = { servers: '127.0.0.1:1', connectTimeoutMs: 600 };
    const wrong: Partial<Record<keyof ConnectOptions, unknown>>[] = [
      { auth: `digest:worker:${PASSWORD}` },
      { auth: [`digest:worker:${PASSWORD}`] },
      { auth: [{ scheme: '', credential: PASSWORD }] },
      { auth: [{ scheme: 'digest', credential: PASSWORD, [`more`]: PASSWORD }] },
      { auth: [{ scheme: 'no-such-scheme', credential: PASSWORD }] },
      { auth: secret, ...away },
      { auth: secret, servers: 'no.such.host.invalid', connectTimeoutMs: 2_000 },
      { auth: [], acl: [{ scheme: 'auth', id: '', permissions: 'cdrwa' }] },
      { driver: 'wire', tls: { passphrase: PASSPHRASE, caFile: join(folder, 'none') }, ...away },
      { driver: 'wire', tls: { passphrase: PASSPHRASE, certFile: 'x' } },
      { driver: 'wire', tls: { passphrase: PASSPHRASE, minVersion: 'x' } },
      { driver: 'native', tls: { passphrase: PASSPHRASE } },
    ];
    for (const options of wrong) {
      const error = await connect(settings({ logger, ...(options as Partial<ConnectOptions>) })).then(
        async (tenure) => {
          // That the ACL means nobody is found with the first znode.
          const refused = await tenure
            .election('e')
            .campaign({ signal: AbortSignal.timeout(5_000) })
            .catch((reason: unknown) => reason);
          await tenure.close();
          return refused;
        },
        (reason: unknown) => reason,
      );
      expect(error, JSON.stringify(Object.keys(options))).toBeInstanceOf(Error);
      expect(found(whole(error)), whole(error)).toEqual([]);
    }
    await using stranger = await connect(settings({ logger, auth: [{ scheme: 'digest', credential: `x:${TOKEN}` }] }));
    const refusal = await stranger
      .election('e')
      .campaign()
      .catch((reason: unknown) => reason);
    expect(refusal).toMatchObject({ kind: 'no_auth' });
    expect(found(whole(refusal))).toEqual([]);
    expect(found(text())).toEqual([]);
  });
});

describe('the command', () => {
  it('shows none, whatever is wrong with files and variables, and at its most talkative', async () => {
    const auth = secretFile('auth', `digest:worker:${PASSWORD}`);
    const where = ['--servers', ensemble.connectString, '--root', '/secrets-cli', '--log-level', 'debug'];
    const runs: [readonly string[], NodeJS.ProcessEnv][] = [
      [
        [
          'run',
          '--election',
          'e',
          ...where,
          '--auth-file',
          auth,
          '--driver',
          'wire',
          '--acl',
          'auth::cdrwa',
          '--',
          'env',
        ],
        {},
      ],
      [
        ['run', '--election', 'e', ...where, '--', 'env'],
        { TENURE_AUTH: `digest:worker:${PASSWORD}`, TENURE_TLS_PASSPHRASE: PASSPHRASE, TENURE_AGENT_TOKEN: TOKEN },
      ],
      [['status', ...where], { TENURE_AUTH: PASSWORD }],
      [['status', 'e', ...where, '--json'], {}],
      [['status', 'e', ...where], { TENURE_AUTH: `no-such-scheme:${PASSWORD}` }],
      [['status', 'e', ...where, '--auth-file', secretFile('broken', PASSWORD)], {}],
      [['status', 'e', ...where, '--tls-ca', join(folder, 'none')], { TENURE_TLS_PASSPHRASE: PASSPHRASE }],
      [['provision', 'e', ...where, '--auth-file', auth, '--worker-auth-file', auth], {}],
      [['provision', 'e', ...where, '--auth-file', auth, '--worker', `digest:worker:${PASSWORD}`], {}],
      [['doctor', ...where, '--json'], { TENURE_AUTH: `digest:worker:${PASSWORD}` }],
      [['agent', ...where, '--listen', '0.0.0.0:0'], { TENURE_AGENT_TOKEN: `${TOKEN} with blanks` }],
    ];
    for (const [words, env] of runs) {
      const { code, out, err } = await invoke(words, env);
      expect(typeof code, words.join(' ')).toBe('number');
      expect(out + err, words.join(' ')).not.toBe('');
      expect(found(out + err), words.join(' ')).toEqual([]);
      if (words.at(-1) === 'env') expect(out).toMatch(/^TENURE_TOKEN=\d+$/m);
    }
  });

  it('gives none to its lifeline, nor to the command that it runs, where others could see it', async () => {
    const env = {
      TENURE_AUTH: `digest:worker:${PASSWORD}`,
      TENURE_TLS_PASSPHRASE: PASSPHRASE,
      TENURE_AGENT_TOKEN: TOKEN,
    };
    const command = ['sh', '-c', 'echo $$; exec sleep 60'];
    const run = new CommandRun({ servers: ensemble.connectString, election: 'shown', command, env });
    try {
      await run.says('\n');
      const helpers = helpersOf(run.pid);
      expect(helpers).toHaveLength(1);
      for (const pid of [...helpers, Number(run.text)]) {
        for (const file of ['cmdline', 'environ']) {
          const text = readFileSync(`/proc/${pid}/${file}`, 'latin1');
          expect(text).toContain(file === 'cmdline' ? '' : 'PATH=');
          expect(found(text), `${pid} ${file}`).toEqual([]);
        }
      }
    } finally {
      run.signal('SIGTERM');
      await run.exited;
    }
  });
});

describe('the sidecar', () => {
  it('answers with none, logs none, and shows none in its command line', async () => {
    const args = ['--listen', '0.0.0.0:0', '--root', '/secrets-agent', '--acl', 'auth::cdrwa', '--log-level', 'debug'];
    const env = {
      TENURE_AUTH: `digest:worker:${PASSWORD}`,
      TENURE_AGENT_TOKEN: TOKEN,
      TENURE_TLS_PASSPHRASE: PASSPHRASE,
    };
    await using sidecar = await SidecarProcess.start(ensemble.connectString, { args, env });
    sidecar.url = sidecar.url.replace('0.0.0.0', '127.0.0.1');
    await sidecar.ready();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const body = { hold: 'ttl', ttlMs: 20_000 };
    const path = '/v1/elections/e/candidacy?id=one';
    const joined = await sidecar.ask('PUT', path, { headers, body });
    expect(joined.status).toBe(201);
    const { key } = joined.body;
    await waitFor(async () => (await sidecar.ask('GET', path, { headers, key })).body.state === 'leading', {
      what: 'it to lead',
    });
    await using operator = await Operator.at(ensemble.connectString, { root: '/secrets-agent' });
    // Whoever may not list the queue may not see whose session it is; the sidecar's log names it.
    const sessionId = /"sessionId":"([0-9a-f]{16})"/.exec(sidecar.log)?.[1] ?? '';
    const passwords = [passwordOf(sessionId)];
    await expect(operator.children('e')).rejects.toMatchObject({ kind: 'no_auth' });

    const asked: [string, string, object?][] = [
      ['GET', '/'],
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/metrics'],
      ['GET', '/openapi.json'],
      ['GET', '/v1/status'],
      ['GET', '/v1/elections'],
      ['GET', '/v1/overview'],
      ['GET', '/v1/elections/e'],
      ['GET', '/v1/elections/e/leader'],
      ['GET', '/v1/elections/e/history'],
      ['GET', '/v1/elections/never-heard-of'],
      ['GET', '/nowhere'],
      ['PUT', path, { hold: PASSWORD.slice(0, 2) }],
      ['PUT', '/v1/elections/a%2F%2Fb/candidacy', body],
      ['POST', '/v1/elections/e/pause', { by: 'ops', reason: 'a look' }],
      ['POST', '/v1/elections/e/resume', { by: 'ops' }],
    ];
    for (const [method, where, sent] of asked) {
      for (const shown of [headers, {}, { authorization: `Bearer ${TOKEN.slice(1)}` }]) {
        const answer = await sidecar.ask(method, where, {
          headers: shown,
          ...(sent === undefined ? {} : { body: sent }),
        });
        const text = JSON.stringify([[...answer.headers], answer.body]);
        expect(found(text, passwords), `${method} ${where}`).toEqual([]);
        // The key of a candidacy is its holder's alone.
        expect(text).not.toContain(key);
      }
    }
    expect(found(readFileSync(`/proc/${sidecar.child.pid}/cmdline`, 'latin1'), passwords)).toEqual([]);
    await sidecar.stop();
    expect(found(sidecar.log, [...passwords, key])).toEqual([]);
  });
});
