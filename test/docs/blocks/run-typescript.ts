import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { project } from '../markdown.js';
import { type Claimed, claimedBy } from './claims.js';
import { secureServers } from './secure-servers.js';
import type { Modules } from './typescript.js';
import type { More, World } from './world.js';

/** What the place of a scene has besides the ensemble. Scenes that aren't here need nothing else. */
const NEEDS: Readonly<Record<string, (world: World) => More | Promise<More>>> = {
  payments: () => ({ database: true }),
  prices: () => ({ database: true }),
  ledger: () => ({ database: true }),
  service: () => ({ database: true }),
  orders: () => ({ database: true }),
  receipts: () => ({ database: true }),
  invoices: () => ({ database: true }),
  raised: () => ({ database: true }),
  stock: () => ({ redis: true }),
  health: async (world) => ({
    env: { HTTP_PORT: String(await world.port()) },
    names: [[/listen\(8080\)/g, 'listen(Number(process.env.HTTP_PORT))']],
  }),
  unreachable: () => ({ names: [[/zk1:2181/g, '127.0.0.1:1']] }),
  metrics: async (world) => ({ env: { OTEL_EXPORTER_PROMETHEUS_PORT: String(await world.port()) } }),
  secure: async (world) => {
    const { address } = await secureServers(world);
    return { names: [[/zk1:2281,zk2:2281,zk3:2281/g, address]] };
  },
};

export const programs = claimedBy('run', ['ts']);
export const scenes = claimedBy('run in', ['ts']);

/** Runs it to its end, which it must come to by itself. */
async function run(modules: Modules, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const node = [process.execPath, '--import', import.meta.resolve('tsx')] as const;
  const options = { cwd, env: { ...env, TSX_TSCONFIG_PATH: modules.tsconfig }, timeout: 100_000 };
  const { stdout, stderr } = await promisify(execFile)(node[0], [...node.slice(1), ...words], options);
  return { stdout, stderr };
}

export async function runProgram(world: World, modules: Modules, { block }: Claimed<'run'>): Promise<string> {
  const place = await world.place();
  const { file } = modules.write(block, place.translate(block.code));
  const { stdout, stderr } = await run(modules, [file], place.folder, place.env);
  if (stderr !== '') throw new Error(`on standard error: ${stderr}`);
  return stdout;
}

export async function runScene(world: World, modules: Modules, { block, claim }: Claimed<'run in'>): Promise<string> {
  const place = await world.place(await NEEDS[claim.scene]?.(world));
  if (claim.scene === 'secure') {
    const { files } = await secureServers(world);
    for (const [name, from] of Object.entries(files)) copyFileSync(from, join(place.folder, name));
  }
  const { file } = modules.write(block, place.translate(block.code));
  const scene = join(project, 'test/docs/scenes', `${claim.scene}.ts`);
  const words = [join(import.meta.dirname, 'in-scene.ts'), scene, file];
  return (await run(modules, words, place.folder, place.env)).stdout;
}
