import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { COMMANDS } from '../../../src/cli/commands.js';
import { stages } from '../../deploy/dockerfile.js';
import { outcome } from '../../support/tools.js';
import { project } from '../markdown.js';
import type { SimpleCommand } from './words.js';

/* What can be known of commands without running them. Each of these returns what is wrong. */

type Look = (words: SimpleCommand, folder: string) => Promise<string[]> | string[];

const text = (path: string): string => readFileSync(join(project, path), 'utf8');
const { version, scripts, optionalDependencies } = JSON.parse(text('package.json')) as {
  version: string;
  scripts: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

/** A path, whose last part may have a star. */
function isThere(path: string, folder = ''): string[] {
  const [parent, name] = [dirname(join(project, folder, path)), basename(path)];
  const like = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  const there = name.includes('*')
    ? existsSync(parent) && readdirSync(parent).some((each) => like.test(each))
    : existsSync(join(project, folder, path));
  return there ? [] : [`there is no ${join(folder, path)}`];
}

const oneOf = (what: string, word: string | undefined, known: readonly string[]): string[] =>
  word !== undefined && known.includes(word) ? [] : [`${what} ${word}: there are ${known.join(', ')}`];

/** Make itself says what it would do. */
const make: Look = async (words) => {
  const { code, all } = await outcome('bash', ['-c', 'exec make -n "$@"', 'make', ...words], project);
  return code === 0 ? [] : [all.trim()];
};

const npm: Look = ([command, ...words]) => {
  const packages = words.filter((word) => /@\d|\.tgz$/.test(word));
  return [
    ...oneOf('npm', command, ['install', 'install-scripts', 'pack', 'rebuild', 'run']),
    ...(command === 'run' ? oneOf('npm run', words.at(-1), Object.keys(scripts)) : []),
    ...packages.filter(
      (name) => name !== `./tenure-${version}.tgz` && name !== `zookeeper@${optionalDependencies['zookeeper']}`,
    ),
  ];
};

/** A program of ours: each of its options must stand in its source or in that of its folder. */
const npx: Look = ([runner, ...words]) => {
  const [path = '', ...rest] = words;
  if (runner === 'vitest') return oneOf('npx vitest', path, ['run']).concat(rest.flatMap((each) => isThere(each)));
  if (runner !== 'tsx') return [`npx ${runner}`];
  if (!existsSync(join(project, path))) return isThere(path);
  if (path === 'src/cli/main.ts')
    return oneOf(
      'tenure',
      rest[0],
      COMMANDS.map(({ name }) => name),
    );
  const folder = dirname(join(project, path));
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const known = (option: string) => new RegExp(`--${option}\\b|\\b${option}: \\{|'${option}': \\{`).test(sources);
  return rest
    .filter((word) => word.startsWith('--') && !known(word.slice(2)))
    .map((option) => `${path} has no option ${option}`);
};

const docker: Look = ([command, ...words]) => {
  if (command === 'build') {
    const target = words[words.indexOf('--target') + 1];
    const names = stages(text('Dockerfile')).map(({ name }) => name);
    return words.includes('--target') ? oneOf('the stage', target, names) : [];
  }
  if (command !== 'compose') return [`docker ${command}`];
  const { services } = parse(text('docker-compose.yml')) as { services: Record<string, unknown> };
  const [action, ...rest] = words;
  const named = rest.filter((word, index) => !word.startsWith('-') && rest[index - 1] !== '-s');
  return [
    ...oneOf('docker compose', action, ['up', 'down', 'kill', 'logs']),
    ...named.flatMap((name) => oneOf('the service', name, Object.keys(services))),
  ];
};

/** It makes up what it would send; that takes no cluster. */
const kubectl: Look = async (words) => {
  const at = words.indexOf('-k');
  const dry = words.map((word) => word.replace('=FILE', '=package.json').replace('=token', '=package.json'));
  const args = at === -1 ? [...dry, '--dry-run=client', '-o', 'yaml'] : ['kustomize', words[at + 1] ?? ''];
  const { code, all } = await outcome('bash', ['-c', 'exec kubectl "$@"', 'kubectl', ...args], project);
  const acts = words.filter((word) => word === 'apply' || word === 'create').length;
  return code === 0 && acts === 1 ? [] : [all.trim()];
};

const systemctl: Look = ([action, now, unit = '']) => [
  ...oneOf('systemctl', action, ['enable']),
  ...oneOf('systemctl enable', now, ['--now']),
  ...isThere(`deploy/systemd/${unit.replace(/@.*$/, '@')}.service`),
];

const installs: Look = (words) =>
  words.filter((word) => word.includes('/') && !word.startsWith('/')).flatMap((word) => isThere(word));

const LOOKS: Readonly<Record<string, Look>> = {
  make,
  npm,
  npx,
  docker,
  kubectl,
  systemctl,
  install: installs,
  // As test/docs/commands.test.ts does for all pages.
  tenure: ([name]) => oneOf('tenure', name, [...new Set(COMMANDS.map((command) => command.name.split(' ')[0] ?? ''))]),
  cd: (words) => words.flatMap((word) => isThere(word)),
  rm: () => [],
  jb: (words) => oneOf('jb', words[0], ['install']),
  openssl: async (words) => ((await outcome('openssl', words)).code === 0 ? [] : ['openssl refuses that']),
  go: ([command, ...words]) => [
    ...oneOf('go', command, ['run']),
    ...words.flatMap((word) => isThere(word, 'examples/go')),
  ],
  mvn: (words) => words.flatMap((word, index) => (words[index - 1] === '-f' ? isThere(join(word, 'pom.xml')) : [])),
  pip: ([command, ...words]) => [
    ...oneOf('pip', command, ['install']),
    ...words.flatMap((word) => (word === '-r' ? [] : isThere(word))),
  ],
  python3: ([first = '']) => (first === '-m' ? [] : isThere(first)),
};

/** What is wrong with a command, by all that is known without running it. */
export async function wrongWith(command: SimpleCommand, folder: string): Promise<string[]> {
  const [name = '', ...words] = command;
  const look = LOOKS[name];
  if (look !== undefined) return look(words, folder);
  if (name.includes('/')) return isThere(name, name.startsWith('./') ? folder : '');
  return [`${basename(name)}: nothing is known of this command`];
}
