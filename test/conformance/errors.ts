import { expect } from 'vitest';
import type { Session } from '../../src/election/port.js';
import type { CoordinatorErrorKind } from '../../src/errors.js';
import { type Check, NOTHING, refusal } from './bench.js';

interface Refused {
  readonly kind: CoordinatorErrorKind;
  readonly operation: string;
  readonly path: string;
  readonly act: (session: Session, path: string) => Promise<unknown>;
}

const TOO_LARGE = new Uint8Array(1_100_000);

const REFUSED: readonly Refused[] = [
  refused('no_node', 'create', '/absent/n', (session, path) => session.create(path, NOTHING, 'persistent')),
  refused('no_node', 'create', '/absent/s-', (session, path) => session.create(path, NOTHING, 'ephemeral_sequential')),
  refused('no_node', 'write', '/absent', (session, path) => session.write(path, NOTHING, -1)),
  refused('no_node', 'remove', '/absent', (session, path) => session.remove(path)),
  refused('node_exists', 'create', '/parent', (session, path) => session.create(path, NOTHING, 'persistent')),
  refused('node_exists', 'create', '/ephemeral', (session, path) => session.create(path, NOTHING, 'ephemeral')),
  refused('bad_version', 'write', '/parent', (session, path) => session.write(path, NOTHING, 7)),
  refused('bad_version', 'remove', '/parent/child', (session, path) => session.remove(path, 7)),
  refused('not_empty', 'remove', '/parent', (session, path) => session.remove(path)),
  refused('no_children_for_ephemerals', 'create', '/ephemeral/n', (session, path) =>
    session.create(path, NOTHING, 'persistent'),
  ),
  refused('too_large', 'create', '/large', (session, path) => session.create(path, TOO_LARGE, 'persistent')),
  refused('too_large', 'write', '/parent', (session, path) => session.write(path, TOO_LARGE, -1)),
];

function refused(kind: CoordinatorErrorKind, operation: string, path: string, act: Refused['act']): Refused {
  return { kind, operation, path, act };
}

/** What is refused, and by which words. */
export function errorChecks(check: Check): void {
  for (const { kind, operation, path, act } of REFUSED) {
    check(`${operation} ${path} is refused: ${kind}`, async ({ hand, root }) => {
      await hand.create(`${root}/parent`, NOTHING, 'persistent');
      await hand.create(`${root}/parent/child`, NOTHING, 'persistent');
      await hand.create(`${root}/ephemeral`, NOTHING, 'ephemeral');
      const error = await refusal(act(hand, root + path));
      expect(error).toMatchObject({ kind, operation, path: root + path, maybeApplied: false, retriable: false });
      expect(error.message).toContain(root + path);
      expect((await hand.stat(`${root}/parent`))?.version, 'nothing has changed').toBe(0);
      expect(hand.state).toBe('connected');
    });
  }

  for (const path of ['', 'relative', '/a//b', '/a/', '/a/.', '/a/../b', '/a\u0000b', '/a\u001fb']) {
    check(`no operation takes the path ${JSON.stringify(path)}`, async ({ hand }) => {
      const operations: Record<string, () => Promise<unknown>> = {
        create: () => hand.create(path, NOTHING, 'persistent'),
        remove: () => hand.remove(path),
        write: () => hand.write(path, NOTHING, -1),
        read: () => hand.read(path),
        stat: () => hand.stat(path, { watch: true }),
        children: () => hand.children(path),
        sync: () => hand.sync(path),
      };
      for (const [operation, act] of Object.entries(operations)) {
        expect(await refusal(act())).toMatchObject({ kind: 'invalid_argument', operation, path, maybeApplied: false });
      }
      expect(hand.state).toBe('connected');
    });
  }

  check('a refused operation is no obstacle to those sent with it', async ({ hand, root }) => {
    const outcomes = await Promise.allSettled([
      hand.create(`${root}/a`, NOTHING, 'persistent'),
      hand.create(`${root}/a`, NOTHING, 'persistent'),
      hand.create(`${root}/b/c`, NOTHING, 'persistent'),
      hand.create('nonsense', NOTHING, 'persistent'),
      hand.create(`${root}/b`, NOTHING, 'persistent'),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
  });

  check('a write whose reply is lost is reported as maybe applied, and was', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat();
    await seat.loseNextReply();
    const error = await refusal(seat.session.create(`${root}/n`, NOTHING, 'ephemeral'));
    expect(error).toMatchObject({ operation: 'create', path: `${root}/n`, maybeApplied: true, retriable: true });
    expect(['connection_lost', 'operation_timeout']).toContain(error.kind);
    await bench.eventually('it was applied', async () => (await hand.stat(`${root}/n`)) !== null);
    expect((await hand.stat(`${root}/n`))?.owner).toBe(seat.session.id);
    await bench.until(seat.session, 'connected');
    expect(await refusal(seat.session.create(`${root}/n`, NOTHING, 'ephemeral'))).toMatchObject({
      kind: 'node_exists',
      maybeApplied: false,
    });
  });
}
