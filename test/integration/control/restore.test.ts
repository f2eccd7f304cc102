import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { fileGuard } from '../../../src/fencing/file.js';
import type { FenceOutcome } from '../../../src/fencing/guard.js';
import { connect, type Term, TokenRegressedError } from '../../../src/index.js';
import { tenure } from './command.js';

/* An ensemble of three is put back to an older state: the tokens that it gives then have been seen already. */

const ELECTION = 'restored';
const RESOURCE = 'ledger';

let ensemble: Ensemble;
let directory: string;
let backup: string;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 500, fsync: false });
  directory = await mkdtemp(join(tmpdir(), 'tenure-restore-'));
  backup = await mkdtemp(join(tmpdir(), 'tenure-backup-'));
}, 120_000);

afterAll(async () => {
  await ensemble?.close();
  for (const each of [directory, backup]) if (each !== undefined) await rm(each, { recursive: true, force: true });
});

interface Worked {
  /** The tokens that the resource accepted. */
  readonly tokens: bigint[];
  readonly outcomes: FenceOutcome[];
  readonly regressions: { token: bigint; recorded: bigint }[];
  /** How `lead` ended. */
  readonly error: unknown;
}

/** A worker that writes until it has done so `times`, and would go on for ever if it could. */
async function work(id: string, times: number): Promise<Worked> {
  const outcomes: FenceOutcome[] = [];
  const regressions: { token: bigint; recorded: bigint }[] = [];
  const tokens: bigint[] = [];
  const guard = fileGuard({ directory, observer: { check: (_, outcome) => void outcomes.push(outcome) } });
  const tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 2_000 });
  tenure.events.on('token_regressed', ({ token, recorded }) => void regressions.push({ token, recorded }));
  const write = async (term: Term) => {
    for (let i = 0; i < times; i++) {
      await guard.publish(term, RESOURCE, 'books.txt', `${id} ${term.token}`);
      tokens.push(term.token);
    }
  };
  const error = await tenure
    .election(ELECTION, { id })
    .lead(write, { onError: 'rejoin' })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  await tenure.close();
  return { tokens, outcomes, regressions, error };
}

async function stopServers(): Promise<void> {
  await Promise.all(ensemble.servers.map((server) => server.stop()));
}

async function startServers(): Promise<void> {
  await Promise.all(ensemble.servers.map((server) => server.start()));
  await ensemble.waitForQuorum(60_000);
}

it('every guarded write is refused after a restore, until the floor is raised', async () => {
  const before = await work('before', 2);
  expect(before.error).toBeUndefined();

  await stopServers();
  for (const server of ensemble.servers) {
    await cp(server.dataDirectory, join(backup, String(server.id)), { recursive: true });
  }
  await startServers();
  // Life goes on after the backup: more terms, with higher tokens.
  let last = 0n;
  for (let round = 0; round < 4; round++) last = (await work(`later-${round}`, 2)).tokens.at(-1) ?? 0n;
  expect(last).toBeGreaterThan(before.tokens[0] ?? 0n);

  await stopServers();
  for (const server of ensemble.servers) {
    await rm(server.dataDirectory, { recursive: true });
    await cp(join(backup, String(server.id)), server.dataDirectory, { recursive: true });
  }
  await startServers();

  // Each of them leads with a good lease, is refused, says so, and doesn't try again.
  for (const id of ['a', 'b']) {
    const refused = await work(id, 2);
    expect(refused.error).toBeInstanceOf(TokenRegressedError);
    expect(refused.error).toMatchObject({ code: 'TOKEN_REGRESSED', cause: { code: 'STALE_TOKEN', highest: last } });
    expect((refused.error as Error).message).toContain(`Raise the floor to ${last}: tenure fence raise`);
    expect(refused.outcomes).toEqual(['regressed']);
    expect(refused.regressions).toMatchObject([{ recorded: last }]);
    expect(refused.tokens).toEqual([]);
  }
  expect(await readFile(join(directory, 'books.txt'), 'utf8')).toBe(`later-3 ${last}`);

  const fence = `${directory}#${RESOURCE}`;
  const shown = await tenure(ensemble.connectString, ['fence', ELECTION, fence, '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({
    election: ELECTION,
    floor: '0',
    fences: [{ resource: RESOURCE, token: String(last), holder: 'later-3' }],
  });
  const told = await tenure(ensemble.connectString, ['fence', ELECTION, fence]);
  expect(told.out).toContain(`tenure fence raise ${ELECTION} --to ${last}`);
  const low = await tenure(ensemble.connectString, ['fence', 'raise', ELECTION, fence, '--to', '7', '-r', 'x']);
  expect(low).toMatchObject({ code: 2 });
  expect(low.err).toContain(`--to 7 is below ${last}`);
  const raised = await tenure(ensemble.connectString, ['fence', 'raise', ELECTION, fence, '--reason', 'restored']);
  expect(raised).toMatchObject({ code: 0, out: `the floor of ${ELECTION} is ${last}: new tokens are above it\n` });

  const after = await work('after', 2);
  expect(after.error).toBeUndefined();
  expect(after.outcomes).toEqual(['accepted', 'accepted']);
  expect(after.tokens.every((token) => token > last)).toBe(true);
  const next = await work('next', 1);
  expect(next.tokens[0]).toBeGreaterThan(after.tokens[0] ?? 0n);
  const again = await tenure(ensemble.connectString, ['fence', 'raise', ELECTION, '--to', String(last), '-r', 'x']);
  expect(again.code).toBe(1);
  expect(again.err).toContain('FLOOR_TOO_LOW');

  const history = await waitFor(
    async () => {
      const { out } = await tenure(ensemble.connectString, ['history', ELECTION]);
      return out.includes('after') && out;
    },
    { what: 'the history to tell of the term after the raise' },
  );
  expect(history).toMatch(/floor raised to +ada +\d+, restored/);
}, 240_000);

it('a leader whose token is not above a raised floor leads again with one that is; another goes on', async () => {
  const tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 2_000 });
  const election = tenure.election('raised', { id: 'w' });
  const terms: Term[] = [];
  const stop = new AbortController();
  const led = election
    .lead(
      (term) => {
        terms.push(term);
        return new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()));
      },
      { signal: stop.signal },
    )
    .catch(() => {});
  const first = await waitFor(() => terms[0], { what: 'a leader' });
  const order = { by: 'ada', reason: 'a test' };
  await election.raiseFloor({ ...order, to: first.token - 1n });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(first.state).toBe('leading');
  await election.raiseFloor({ ...order, to: first.token + 1_000n });
  const second = await waitFor(() => terms[1], { what: 'another term' });
  expect(first.signal.reason).toMatchObject({ reason: 'superseded' });
  expect((first.signal.reason as Error).message).toContain(`the floor was raised to ${first.token + 1_000n}`);
  expect(second.number).toBe(2);
  expect(second.token).toBeGreaterThan(first.token + 1_000n);
  expect(second.previous?.end).toBe('resigned');
  for (const to of [first.token, first.token + 1_000n]) {
    await expect(election.raiseFloor({ ...order, to })).rejects.toMatchObject({ code: 'FLOOR_TOO_LOW' });
  }
  for (const to of [0n, -1n, 2n ** 62n + 1n, 5 as unknown as bigint]) {
    await expect(election.raiseFloor({ ...order, to })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  }
  expect(await election.floor()).toBe(first.token + 1_000n);
  // The highest floor that there is leaves room for tokens.
  await election.raiseFloor({ ...order, to: 2n ** 62n });
  const third = await waitFor(() => terms[2], { what: 'a term above the highest floor' });
  expect(third.token).toBeGreaterThan(2n ** 62n);
  stop.abort();
  await led;
  await tenure.close();
}, 60_000);

it('the floor of an election that does not exist yet can be raised, as after a rebuild', async () => {
  const tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 2_000 });
  const election = tenure.election('rebuilt');
  await expect(election.floor()).rejects.toMatchObject({ code: 'UNKNOWN_ELECTION' });
  await election.raiseFloor({ by: 'ada', reason: 'rebuilt', to: 10n ** 15n });
  const term = await election.campaign();
  expect(term.number).toBe(1);
  expect(term.token).toBeGreaterThan(10n ** 15n);
  await term.resign();
  const foreign = tenure.election('rebuilt', { queuePath: '/elsewhere' });
  await expect(foreign.raiseFloor({ by: 'ada', reason: 'x', to: 10n ** 16n })).rejects.toMatchObject({
    code: 'FOREIGN_QUEUE',
  });
  await tenure.close();
}, 60_000);
