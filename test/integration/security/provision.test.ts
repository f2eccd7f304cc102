import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { apply } from '../../../src/cli/provision/apply.js';
import { plan } from '../../../src/cli/provision/plan.js';
import { connect, type Logger } from '../../../src/index.js';
import { PERMISSIONS } from '../../../src/zookeeper/acl.js';
import type { WireSession } from '../../../src/zookeeper/wire/session.js';
import { Contender } from '../../support/contender.js';
import { invoke } from '../../support/invocation.js';
import { eachVersion } from '../../support/versions.js';
import { closeAll, open } from '../wire/support.js';
import { deeds, fate, Party } from './parties.js';

/* Least privilege: what workers can do with znodes that were made for them, and what nobody else can. */

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const T = 4_000;
const ops = new Party('ops');
const workers = new Party('workers');
const OWN = [{ scheme: 'auth', id: '', permissions: 'rw' }];

eachVersion([], (versioned) => {
  let ensemble: Ensemble;
  let folder: string;
  let operator: WireSession;
  let count = 0;
  const fresh = () => `/root-${++count}`;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tenure-provision-'));
    ensemble = await startEnsemble({ size: 1, tickTime: 200, fsync: false, ...versioned });
    operator = await open(ensemble.connectString, { auth: ops.auth });
  });

  afterAll(async () => {
    await closeAll();
    await ensemble?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const provision = async (root: string, names: readonly string[], more: readonly string[] = []) => {
    const who = ['--auth-file', ops.file(folder), '--worker-auth-file', workers.file(folder)];
    const { code, out, err } = await invoke(
      ['provision', ...names, '--servers', ensemble.connectString, '--root', root, ...who, '--json', ...more],
      {},
    );
    expect(err).toBe('');
    expect(code).toBe(0);
    return JSON.parse(out) as {
      dryRun: boolean;
      znodes: { path: string; action: string; acl: object[]; before: object[] | null }[];
      workersAcl: string;
      candidates: Record<string, number>;
    };
  };

  it.each(['wire', 'native'] as const)('lets workers with the %s driver do all their part', async (driver) => {
    const root = fresh();
    const { workersAcl } = await provision(root, ['settlement']);
    expect(workersAcl).toBe(`digest:${ops.id}:r,digest:${workers.id}:rw`);
    const [, opsId = '', workersId = ''] = /^digest:(.*):r,digest:(.*):rw$/.exec(workersAcl) ?? [];
    const acl = [
      { scheme: 'digest', id: opsId, permissions: 'r' },
      { scheme: 'digest', id: workersId, permissions: 'rw' },
    ];
    const settings = { root, sessionTimeoutMs: T, driver, auth: workers.auth, acl };
    await using first = await Contender.enter(ensemble.connectString, 'settlement', 'first', settings);
    const term = await first.leading();
    await using second = await Contender.enter(ensemble.connectString, 'settlement', 'second', settings);
    await second.joined();

    // Nobody else gets at anything: neither what was made for workers nor what they have made.
    const queue = `${root}/settlement/queue`;
    const paths = [
      root,
      `${root}/sessions`,
      `${root}/settlement`,
      `${root}/settlement/term`,
      `${root}/settlement/history`,
      queue,
    ];
    for (const node of (await operator.children(queue))?.names ?? []) paths.push(`${queue}/${node}`);
    const record = JSON.parse(Buffer.from((await operator.read(`${root}/settlement/term`))?.data ?? []).toString());
    paths.push(`${root}/sessions/${record.session}`);
    expect(paths).toHaveLength(9);
    const nobody = await open(ensemble.connectString);
    const stranger = await open(ensemble.connectString, { auth: new Party('workers', 'a guess').auth });
    for (const session of [nobody, stranger]) {
      // The right to delete the root is one to what lies above it, which is nobody's to close here.
      expect(await deeds(session, root)).toEqual(['delete: not_empty']);
      for (const path of paths.slice(1)) expect(await deeds(session, path), path).toEqual([]);
    }

    // By an operator's order, unannounced for the successor: it is patient.
    await using admin = await connect({ ...settings, servers: ensemble.connectString, auth: ops.auth, driver: 'wire' });
    const election = admin.election('settlement');
    expect((await election.current()).leader).toMatchObject({ id: 'first', token: term.token });
    await election.evict({ node: 'first', by: 'test', reason: 'try patience' });
    await first.lost(term);
    const next = await second.leading();
    expect(next.number).toBe(2);
    expect(second.count('patient')).toBe(1);
    await first.joined(2);
    await second.stop();
    expect((await first.leading(2)).previous).toMatchObject({ term: 2, end: 'resigned' });
    await waitFor(
      async () => {
        const entries = await election.history();
        return entries.filter(({ kind }) => kind === 'term').length === 2 && entries;
      },
      { what: 'both terms in the history' },
    );
    const written = await operator.read(`${root}/settlement/history`);
    await waitFor(
      async () => Buffer.from((await operator.read(`${root}/settlement/history`))?.data ?? []).includes('"resigned"'),
      { what: `the history to be written (it was ${Buffer.from(written?.data ?? [])})` },
    );
    const looked = await invoke(
      [
        'doctor',
        '--servers',
        ensemble.connectString,
        '--root',
        root,
        '--auth-file',
        workers.file(folder),
        '--json',
        '--driver',
        'wire',
      ],
      {},
    );
    expect(JSON.parse(looked.out).findings).toContainEqual(
      expect.objectContaining({
        severity: 'ok',
        message: expect.stringContaining('we may take part in elections that were prepared'),
      }),
    );
    // Workers look around, too, and make nothing that wasn't made for them.
    await using worker = await connect({ ...settings, servers: ensemble.connectString });
    expect(await worker.elections()).toEqual(['settlement']);
    expect(await fate(worker.election('of-their-own').campaign())).toBe('no_auth');
    const theirs = await open(ensemble.connectString, { auth: workers.auth });
    for (const path of paths.slice(0, 6)) {
      const done = path === root ? [] : await deeds(theirs, path);
      expect(
        done.filter((deed) => deed.startsWith('delete')),
        path,
      ).toEqual([]);
      expect(await fate(theirs.setAcl(path, [{ scheme: 'world', id: 'anyone', permissions: 31 }])), path).toBe(
        'no_auth',
      );
    }
  });

  describe('each right that workers have is needed', () => {
    const cases: readonly [node: string, letter: string][] = [
      ['queue', 'c'],
      ['queue', 'd'],
      ['queue', 'r'],
      ['term', 'r'],
      ['term', 'w'],
      ['history', 'r'],
      ['history', 'w'],
      ['sessions', 'c'],
      ['own', 'r'],
      ['own', 'w'],
    ];
    it.each(cases)('%s: %s', async (node, letter) => {
      const refused = await attempt(node, letter);
      expect(refused).not.toBe(0);
    });

    it('and nothing else is', async () => {
      expect(await attempt('none', '')).toBe(0);
    });

    /** How often a worker is refused something, in its whole life, with this right taken from it. */
    async function attempt(node: string, letter: string): Promise<number> {
      const root = fresh();
      const own = [{ scheme: 'digest', id: ops.id }];
      const wanted = plan(root, ['e'], { own, admins: [], workers: [{ scheme: 'digest', id: workers.id }] });
      const bit =
        { c: PERMISSIONS.create, d: PERMISSIONS.delete, r: PERMISSIONS.read, w: PERMISSIONS.write }[letter] ?? 0;
      const less = wanted.map((each) =>
        each.path.endsWith(`/${node}`)
          ? {
              ...each,
              acl: each.acl.map((line) =>
                line.id === workers.id ? { ...line, permissions: line.permissions & ~bit } : line,
              ),
            }
          : each,
      );
      await apply(operator, less, (acl) => acl, false);
      let refused = 0;
      const count = (error: unknown) => {
        if ((error as { kind?: string } | undefined)?.kind === 'no_auth') refused += 1;
      };
      const note = (fields: object) => count((fields as { err?: unknown }).err);
      const logger: Logger = { debug: note, info: note, warn: note, error: note };
      const acl = node === 'own' ? [{ ...OWN[0], permissions: 'rw'.replace(letter, '') } as (typeof OWN)[0]] : OWN;
      const settings = { servers: ensemble.connectString, root, driver: 'wire', auth: workers.auth, acl } as const;
      const tenure = await connect({ ...settings, sessionTimeoutMs: T, logger });
      tenure.events.on('renewal_failed', ({ kind }) => count({ kind }));
      const signal = AbortSignal.timeout(20_000);
      // Two terms: the second one writes the first one into the history.
      for (let term = 1; term <= 2; term++) {
        const led = await tenure.election('e').campaign({ signal }).catch(count);
        if (led === undefined) break;
        await waitFor(() => led.signal.aborted || refused > 0 || led.remainingMs() > 0, { what: 'a renewal' });
        if (node === 'own') await waitFor(() => refused > 0, { what: 'a renewal to be refused' });
        await led.resign();
        if (refused > 0) break;
      }
      await tenure.close();
      return refused;
    }
  });

  it('is idempotent, changes what differs, and does nothing when it is told to', async () => {
    const root = `${fresh()}/deep`;
    const dry = await provision(root, ['a/b', 'a'], ['--dry-run']);
    expect(dry.znodes.map(({ action, path }) => [action, path.replace(root, '')])).toEqual([
      ['create', root.replace('/deep', '')],
      ['create', ''],
      ['create', '/sessions'],
      ['create', '/a'],
      ['create', '/a/b'],
      ['create', '/a/b/queue'],
      ['create', '/a/b/term'],
      ['create', '/a/b/history'],
      ['create', '/a/queue'],
      ['create', '/a/term'],
      ['create', '/a/history'],
    ]);
    expect(await operator.stat(root.replace('/deep', ''))).toBeNull();
    const first = await provision(root, ['a/b', 'a']);
    expect(first.znodes).toEqual(dry.znodes);
    const again = await provision(root, ['a/b', 'a']);
    expect(again.znodes.map(({ action }) => action)).toEqual(first.znodes.slice(1).map(() => 'keep'));
    // What lies above the root is left as it is, once it is there.
    await operator.setAcl(root.replace('/deep', ''), [{ scheme: 'world', id: 'anyone', permissions: 1 }]);
    const more = await provision(root, ['a'], ['--worker', `digest:${new Party('others').id}`]);
    expect(more.znodes.map(({ action }) => action)).toEqual(more.znodes.map(() => 'change'));
    expect(await operator.acl(`${root}/a/term`)).toHaveLength(3);
    const back = await provision(root, ['a']);
    expect(back.znodes[0]).toMatchObject({ action: 'change', before: more.znodes[0]?.acl });
    expect(await operator.acl(`${root}/a/term`)).toHaveLength(2);
  });

  it('closes an election that was open, under the eyes of its leader', async () => {
    const root = fresh();
    const settings = { root, sessionTimeoutMs: T, driver: 'wire', auth: workers.auth } as const;
    await using leader = await Contender.enter(ensemble.connectString, 'e', 'first', settings);
    await leader.leading();
    const { znodes, candidates } = await provision(root, ['e']);
    expect(znodes.map(({ action, path }) => `${action} ${path.slice(root.length)}`)).toEqual([
      'change ',
      'change /sessions',
      'change /e',
      'change /e/queue',
      'change /e/term',
      expect.stringMatching(/^(create|change) \/e\/history$/),
    ]);
    expect(candidates).toEqual({ [`${root}/e/queue`]: 1 });
    await using second = await Contender.enter(ensemble.connectString, 'e', 'second', { ...settings, acl: OWN });
    await second.joined();
    await leader.stop();
    expect((await second.leading()).previous).toMatchObject({ term: 1, end: 'resigned' });
    const nobody = await open(ensemble.connectString);
    expect(await deeds(nobody, `${root}/e/term`)).toEqual([]);
  });

  const wrong: readonly [string, readonly string[], number, RegExp][] = [
    ['nobody who works', ['--auth-file', 'OPS'], 2, /who works\?/],
    ['nobody who administers', ['--worker', `digest:${workers.id}`], 2, /who administers\?/],
    ['everybody', ['--auth-file', 'OPS', '--worker', 'world:anyone'], 2, /nothing to close/],
    ['a password', ['--auth-file', 'OPS', '--worker', 'digest:workers:hunter2'], 2, /never a password/],
    ['no scheme', ['--auth-file', 'OPS', '--admin', 'somebody', '--worker', 'auth:'], 2, /--admin takes scheme:id/],
    ['a name that is none', ['a//b', '--auth-file', 'OPS', '--worker', 'auth:'], 2, /empty segment/],
  ];
  it.each(wrong)('refuses %s', async (_what, words, code, message) => {
    const given = words.map((word) => (word === 'OPS' ? ops.file(folder) : word));
    const said = await invoke(['provision', '--servers', ensemble.connectString, '--root', fresh(), ...given], {});
    expect(said).toMatchObject({ code, out: '' });
    expect(said.err).toMatch(message);
    expect(said.err).not.toContain('hunter2');
  });

  it('ends with its own code where somebody else administers', async () => {
    const root = fresh();
    await provision(root, ['e']);
    const words = ['provision', 'e', '--servers', ensemble.connectString, '--root', root, '--worker', 'auth:'];
    const said = await invoke([...words, '--auth-file', new Party('mallory').file(folder)], {});
    expect(said).toMatchObject({ code: 6, out: '' });
  });
});
