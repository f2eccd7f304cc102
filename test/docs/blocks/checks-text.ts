import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../../deploy/local/index.js';
import { COMMANDS } from '../../../src/cli/commands.js';
import { commandHelp } from '../../../src/cli/help.js';
import { styleFor } from '../../../src/cli/style.js';
import { connect } from '../../../src/index.js';
import { Operator } from '../../support/operator.js';
import { project } from '../markdown.js';
import type { Check } from './check.js';
import type { World } from './world.js';

/** It is what the help of a command begins with. */
const synopsis: Check = {
  tools: [],
  async run({ code }) {
    const plain = { style: styleFor(false), columns: 1_000 };
    const usages = COMMANDS.map((command) => commandHelp(command, plain)).filter((help) =>
      help.split('\n').includes(`Usage: ${code.trim()}`),
    );
    assert.equal(usages.length, 1, code);
  },
};

/** Each line begins with a path below the one that it is indented under; what stands behind two blanks is said of it. */
const tree: Check = {
  tools: [],
  async run({ code }) {
    const above: { readonly indent: number; readonly path: string }[] = [];
    const missing: string[] = [];
    for (const line of code.trimEnd().split('\n')) {
      const [, blanks = '', names = ''] = /^( *)(\S+(?: {1,2}\S+\.ts)*)/.exec(line) ?? [];
      while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= blanks.length) above.pop();
      const base = above.at(-1)?.path ?? '';
      for (const name of names.split(/ +/)) {
        if (!existsSync(join(project, base, name))) missing.push(join(base, name));
      }
      if (names.endsWith('/')) above.push({ indent: blanks.length, path: join(base, names) });
    }
    assert.deepEqual(missing, []);
  },
};

/** An election that is led, and somebody who looks at its znodes. */
async function led(world: World) {
  const servers = await world.servers();
  // Operators know no chroot.
  const root = `/znodes-${Math.random().toString(36).slice(2)}`;
  const tenure = await connect({ servers, root, driver: 'wire', lifeline: false });
  const operator = await Operator.at(servers, { root });
  return {
    election: tenure.election('settlement'),
    operator,
    root,
    close: () => Promise.all([tenure.close(), operator.close()]),
  };
}

/** Every znode there is is on the list, every line of the list has one, and they are of the kinds that it says. */
const znodes: Check = {
  tools: [],
  async run({ code }, world) {
    const { election, operator, root, close } = await led(world);
    await (await election.campaign()).resign();
    await election.campaign();
    const lines = code
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
      .map(([path = '', kind = '']) => ({
        kind,
        like: new RegExp(
          `^${path
            .replace('/tenure', root)
            .replace('<election>', 'settlement')
            .replaceAll('<uuid>', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
            .replace('<10 digits>', '\\d{10}')}$`,
        ),
      }));
    const { session } = operator;
    const leaves = async (path: string): Promise<string[]> => {
      const names = (await session.children(path))?.names ?? [];
      return names.length === 0 ? [path] : (await Promise.all(names.map((name) => leaves(`${path}/${name}`)))).flat();
    };
    // The history is written a quarter of a second after the claim.
    const found = await waitFor(async () => (await leaves(root)).length >= lines.length && (await leaves(root)), {
      what: 'every znode of the page',
    });
    for (const path of found) {
      const line = lines.find(({ like }) => like.test(path));
      assert(line !== undefined, `${path} isn't on the page`);
      const owner = (await session.stat(path))?.owner;
      assert.equal(line.kind.startsWith('ephemeral'), owner !== null, path);
    }
    for (const { like } of lines)
      assert(
        found.some((path) => like.test(path)),
        String(like),
      );
    await close();
  },
};

const token: Check = {
  tools: [],
  async run({ code }, world) {
    assert.equal(code, "token = floor + czxid of the leader's candidate znode\n");
    const { election, operator, close } = await led(world);
    await election.raiseFloor({ to: 1_000_000_000_000n, by: 'ann', reason: 'a test' });
    const term = await election.campaign();
    const [leader] = await operator.queue('settlement');
    const record = await operator.record('settlement');
    assert.equal(term.token, BigInt(String(record?.['floor'])) + (leader?.czxid ?? 0n));
    assert.notEqual(record?.['floor'], '0');
    await close();
  },
};

export const TEXT_CHECKS: Readonly<Record<string, Check>> = {
  synopsis,
  'tree of the project': tree,
  'znodes of an election': znodes,
  'formula of the token': token,
};
