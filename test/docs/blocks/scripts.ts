import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startAlertmanager } from '../../../deploy/local/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { presenter } from '../../../src/fencing/presenter.js';
import type { Tool } from '../../support/tools.js';
import { project } from '../markdown.js';
import { claimedBy } from './claims.js';
import { Fleet } from './fleet.js';
import { type Ended, shell } from './shell.js';
import type { More, Place, World } from './world.js';

/** What the shell blocks of one page need, and what they say. Those that are run are one script, in the order of the page. */
interface Script {
  readonly tools: readonly Tool[];
  readonly more?: More;
  readonly sidecar?: true;
  /** Lays out the place. @returns where the script runs, if not there */
  readonly before?: (place: Place, world: World) => Promise<string | undefined> | string;
  /** What else stands for something. */
  readonly names?: (place: Place) => readonly (readonly [RegExp, string])[];
  readonly says: RegExp;
}

const settles = '#!/bin/sh\necho "settles with token $TENURE_TOKEN"\n';

/** Elections that have had leaders. */
async function haveLed(servers: string): Promise<undefined> {
  await (await Fleet.at(servers))[Symbol.asyncDispose]();
}

/** The books, whose fence has accepted a token, and an election. */
async function books({ env, servers }: Place): Promise<undefined> {
  const pool = new pg.Pool({ connectionString: env['DATABASE_URL'], max: 1 });
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await guard.check(presenter(4294967342n), 'ledger');
  await pool.end();
  await haveLed(servers);
}

/** A copy of the alerts' sources, in which they are rendered, and an Alertmanager that amtool knows of. */
async function alerts({ folder, env }: Place, world: World): Promise<undefined> {
  cpSync(join(project, 'alerts'), join(folder, 'alerts'), { recursive: true });
  mkdirSync(join(folder, 'dashboards'));
  cpSync(join(project, 'dashboards/config.libsonnet'), join(folder, 'dashboards/config.libsonnet'));
  const configFile = join(folder, 'alertmanager.yml');
  writeFileSync(configFile, 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
  const alertmanager = await startAlertmanager({ configFile });
  world.owns(alertmanager);
  // Its readers have its address and their names in a file, for which amtool looks in the real home only.
  env['ALERTMANAGER'] = `--alertmanager.url=${alertmanager.url} --author=ann`;
}

const SCRIPTS: Readonly<Record<string, Script>> = {
  'README.md': {
    tools: ['curl'],
    sidecar: true,
    more: { files: { 'settle.sh': settles } },
    says: /^settles with token [1-9]\d*\n[\s\S]*"key":"/,
  },
  'docs/cli.md': {
    tools: [],
    before: ({ servers }) => haveLed(`${servers}/prod`),
    says: /quorum[\s\S]*settlement/,
  },
  'docs/run.md': { tools: [], more: { files: { settle: settles } }, says: /^settles with token [1-9]\d*\n$/ },
  'docs/operations.md': {
    tools: [],
    more: {
      database: true,
      files: { 'ops.auth': 'digest:ops:secret\n', 'workers.auth': 'digest:workers:secret\n' },
    },
    before: books,
    says: /ledger[\s\S]*4294967342[\s\S]*payments\/eu/,
  },
  'docs/fencing.md': { tools: ['psql'], more: { database: true }, says: /CREATE SCHEMA[\s\S]*CREATE FUNCTION/ },
  'docs/sidecar.md': {
    tools: ['curl', 'jq'],
    sidecar: true,
    // In the order of the page: a term, a refresh, a view, nobody leads, a pause and its end, a hold and its end.
    says: new RegExp(
      [
        ...['"term": 1', '"state": "leading"', '"version"', '503', '"paused":\\{"by":"ada"', '"paused":null'],
        ...['"change": "resume"', '"held":"this host is drained"', '"held":null'],
      ].join('[\\s\\S]*'),
    ),
  },
  'docs/observability.md': {
    tools: ['jsonnet', 'promtool', 'amtool', 'prometheus-alertmanager'],
    before: alerts,
    names: ({ env }) => [[/amtool silence add/g, `amtool silence add ${env['ALERTMANAGER']}`]],
    says: /SUCCESS[\s\S]*alert: 'NoLeader'[\s\S]*receivers[\s\S]*[0-9a-f]{8}-[0-9a-f-]{27}\n$/,
  },
  'examples/README.md': {
    tools: ['psql'],
    more: { database: true },
    before: () => project,
    // What up.ts would have printed.
    names: ({ servers, env }) => [
      [/127\.0\.0\.1:2181/g, servers],
      [/postgres:\/\/\S+sslmode=disable/g, String(env['DATABASE_URL'])],
    ],
    says: /CREATE SCHEMA[\s\S]*CREATE FUNCTION[\s\S]*CREATE TABLE\n/,
  },
};

/** Blocks that go on for ever: where they run. */
const STARTS: Readonly<Record<string, (place: Place) => string>> = {
  // A module beside the clone.
  'clients/go/README.md': ({ folder }) => {
    mkdirSync(join(folder, 'worker'));
    writeFileSync(join(folder, 'worker/go.mod'), 'module worker\n\ngo 1.21\n');
    symlinkSync(project, join(folder, 'tenure'));
    return join(folder, 'worker');
  },
};

export const scripts = claimedBy('run', ['sh']);
export const starts = claimedBy('run until', ['sh']);

/** The pages with a script, and those that this knows. */
export const scriptPages: readonly string[] = [...new Set(scripts.map(({ block }) => block.page))];
export const knownPages: readonly string[] = Object.keys(SCRIPTS);

export const toolsOf = (page: string): readonly Tool[] => SCRIPTS[page]?.tools ?? [];

const ran = new Map<string, Promise<Ended>>();

/** What a page shows, run as one script, once. @throws where it says something else than it should */
export function scriptOf(world: World, page: string): Promise<Ended> {
  const known = ran.get(page) ?? runScript(world, page);
  ran.set(page, known);
  return known;
}

async function runScript(world: World, page: string): Promise<Ended> {
  const script = SCRIPTS[page];
  if (script === undefined) throw new Error(`${page}: what its shell blocks need and say is to be written here`);
  await using sidecar = script.sidecar && (await world.sidecar());
  const place = await world.place({ ...script.more, ...(sidecar && { sidecar: sidecar.url }) });
  const cwd = (await script.before?.(place, world)) ?? place.folder;
  const shown = scripts.filter(({ block }) => block.page === page).map(({ block }) => block.code);
  const names = script.names?.(place) ?? [];
  const real = names.reduce((code, [name, value]) => code.replaceAll(name, value), place.translate(shown.join('\n')));
  const ended = await shell(real, { cwd, env: place.env });
  if (ended.code === 0 && script.says.test(ended.out)) return ended;
  throw new Error(`${page}: code ${ended.code}, and not ${script.says}:\n${ended.all}`);
}

export async function runStart(world: World, { block, claim }: (typeof starts)[number]): Promise<Ended> {
  const place = await world.place();
  const cwd = STARTS[block.page]?.(place) ?? place.folder;
  const until = new RegExp(claim.says.replaceAll(/[^\w ]/g, '\\$&'));
  return shell(place.translate(block.code), { cwd, env: place.env, until });
}
