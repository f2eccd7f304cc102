import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileGuard } from '../../src/fencing/file.js';
import { type Access, guardConformance, type Harness } from './guard.js';

guardConformance('files', fileHarness);

async function fileHarness(): Promise<Harness> {
  const directory = await mkdtemp(join(tmpdir(), 'tenure-file-guard-'));
  const logs = new Map<string, bigint[]>();
  // A published file shows its last writer only: look at it all the time.
  const look = (resource: string) => {
    const log = logs.get(resource) ?? [];
    logs.set(resource, log);
    try {
      const token = BigInt(readFileSync(join(directory, pathOf(resource)), 'utf8'));
      if (log.at(-1) !== token) log.push(token);
    } catch {
      // Not published yet.
    }
    return log;
  };
  const watching = setInterval(() => {
    for (const resource of logs.keys()) look(resource);
  }, 1);
  return {
    completeLog: false,
    leaseKnown: true,
    async open(observer): Promise<Access> {
      const guard = fileGuard({ directory, ...(observer && { observer }) });
      return {
        check: (term, resource) => guard.check(term, resource),
        highest: (resource) => guard.highest(resource),
        async write(term, resource, pause) {
          look(resource);
          if (pause === undefined) await guard.publish(term, resource, pathOf(resource), String(term.token));
          else
            await guard.hold(term, resource, async (hold) => {
              await pause();
              await hold.publish(pathOf(resource), String(term.token));
            });
          look(resource);
        },
      };
    },
    log: async (resource) => look(resource),
    // The store is the disk, and every guard that is opened starts from what it finds there.
    restart: async () => undefined,
    async close() {
      clearInterval(watching);
      await rm(directory, { recursive: true });
    },
  };
}

function pathOf(resource: string): string {
  const name = Buffer.from(resource).toString('hex');
  return `published/${name.length > 200 ? `${name.slice(0, 100)}${name.slice(-100)}` : name || 'none'}`;
}
