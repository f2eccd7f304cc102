import { claimedBy } from './claims.js';
import type { Run } from './command-examples.js';
import { Fleet } from './fleet.js';
import { type Ended, shell } from './shell.js';
import type { World } from './world.js';

/** The lines of the blocks whose commands are run one by one. */
export const lines: readonly string[] = claimedBy('run one by one', ['sh']).flatMap(({ block }) =>
  block.code.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
);

/** Runs one, in a place with a fleet of its own. */
export async function runCommand(world: World, line: string, run: Run): Promise<Ended> {
  await using sidecar = run.sidecar ? await world.sidecar() : undefined;
  const place = await world.place({ ...run.more, ...(sidecar && { sidecar: sidecar.url }) });
  await using fleet = await Fleet.at(place.servers);
  await run.before?.(fleet, place);
  const names = (await run.names?.(fleet)) ?? [];
  const real = names.reduce((text, [name, value]) => text.replace(name, value), place.translate(line));
  // `script` gives it a terminal; who sits there says yes.
  const quoted = `'${real.replaceAll("'", "'\\''")}'`;
  const asked = run.asks ? `{ sleep 2; echo y; sleep 1; } | script -qefc ${quoted} /dev/null` : real;
  return await shell(asked, { cwd: place.folder, env: place.env, ...(run.forEver && { until: run.says }) });
}
