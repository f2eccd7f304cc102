import type { Host } from './host.js';
import { electionName, isReserved } from './names.js';
import { untilAnswered } from './persistence.js';
import type { Session } from './port.js';

/** How many znodes are asked for their children at once: enough to fill the connection, few beside what else it carries. */
const AT_ONCE = 64;

/**
 * The names of all elections below a root, sorted: each znode that has a queue or a term record. What else lies there
 * is passed over.
 *
 * @throws `signal.reason` when aborted; {@link CoordinatorError} when the session is dead
 */
export async function listElections(
  host: Host,
  session: Session,
  root: string,
  signal?: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  // Level by level: names are few segments deep.
  let level: readonly string[] = [''];
  while (level.length > 0) {
    const next: string[] = [];
    for (let i = 0; i < level.length; i += AT_ONCE) {
      signal?.throwIfAborted();
      const asked = level.slice(i, i + AT_ONCE);
      const all = await Promise.all(
        asked.map((name) =>
          untilAnswered(host, session, () => session.children(name === '' ? root : `${root}/${name}`), signal),
        ),
      );
      for (const [index, children] of all.entries()) {
        const name = asked[index] ?? '';
        const names = children?.names ?? [];
        if (name !== '' && (names.includes('queue') || names.includes('term'))) found.push(name);
        for (const child of names) {
          const deeper = name === '' ? child : `${name}/${child}`;
          if (!isReserved(child) && isName(deeper)) next.push(deeper);
        }
      }
    }
    level = next;
  }
  return found.sort();
}

function isName(text: string): boolean {
  try {
    electionName(text);
    return true;
  } catch {
    return false;
  }
}
