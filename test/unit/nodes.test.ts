import { describe, expect, it } from 'vitest';
import { ensurePath } from '../../src/election/nodes.js';
import type { Session } from '../../src/election/port.js';
import { CoordinatorError, type CoordinatorErrorKind } from '../../src/errors.js';

/** A session of which only creates are there. `refuse` says of each what it fails with; null: it is made, where its parent is. */
function tree(there: string[], refuse: (path: string, attempt: number) => CoordinatorErrorKind | null = () => null) {
  const nodes = new Set(['', ...there]);
  const asked: string[] = [];
  const session = {
    create: async (path: string) => {
      const attempt = asked.filter((one) => one === path).length;
      asked.push(path);
      const refusal = refuse(path, attempt);
      if (refusal !== null) throw new CoordinatorError(refusal, 'create', path);
      if (!nodes.has(path.slice(0, path.lastIndexOf('/')))) throw new CoordinatorError('no_node', 'create', path);
      if (nodes.has(path)) throw new CoordinatorError('node_exists', 'create', path);
      nodes.add(path);
      return path;
    },
  } as unknown as Session;
  return { session, nodes, asked };
}

describe('a path that has to be there', () => {
  it('is made with its parent in one breath', async () => {
    const { session, asked } = tree(['/tenure']);
    await ensurePath(session, '/tenure/a/queue');
    expect(asked).toEqual(['/tenure/a', '/tenure/a/queue']);
  });

  it('is made with all that is missing above it', async () => {
    const { session, nodes } = tree([]);
    await ensurePath(session, '/a/b/c/d/e');
    expect([...nodes]).toEqual(['', '/a', '/a/b', '/a/b/c', '/a/b/c/d', '/a/b/c/d/e']);
  });

  it('may have a parent that is not ours to make', async () => {
    const { session, nodes } = tree(['/tenure', '/tenure/a'], (path) => (path === '/tenure/a' ? 'no_auth' : null));
    await ensurePath(session, '/tenure/a/queue');
    expect(nodes).toContain('/tenure/a/queue');
  });

  it('may not have one that we have made, and that failed then', async () => {
    const { session, nodes } = tree(['/tenure'], (path, attempt) => {
      if (path !== '/tenure/a' || attempt > 0) return null;
      // Made, and then not closed to others.
      nodes.add(path);
      return 'no_auth';
    });
    await expect(ensurePath(session, '/tenure/a/queue')).rejects.toMatchObject({ kind: 'no_auth' });
  });

  it('is not made where that is refused', async () => {
    const { session } = tree(['/tenure', '/tenure/a'], (path) => (path.endsWith('queue') ? 'no_auth' : null));
    await expect(ensurePath(session, '/tenure/a/queue')).rejects.toMatchObject({ kind: 'no_auth' });
  });
});
