import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ImageStage, stages } from './dockerfile.js';

interface Layer {
  /** Newest first. */
  readonly layers: readonly string[];
  /** Where it is mounted. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: string;
  readonly command: readonly string[];
}

const START: Omit<Layer, 'layers' | 'root'> = { env: {}, workdir: '/', user: '0:0', command: [] };

/**
 * Carries a Dockerfile's steps out without an engine: each stage in an overlay over this machine's own root, entered by
 * chroot, in a mount namespace of its own. The base image is this machine: whether the image of that name has what ours
 * has is not shown. It takes root, and the network for what the steps fetch.
 */
export class DryBuild implements AsyncDisposable {
  readonly #context: string;
  readonly #folder: string;
  readonly #holder: ChildProcess;
  readonly #stages = new Map<string, Layer>();

  private constructor(context: string, folder: string, holder: ChildProcess) {
    this.#context = context;
    this.#folder = folder;
    this.#holder = holder;
  }

  /** @param onStep told of each step */
  static async of(context: string, onStep: (line: string) => void = () => {}): Promise<DryBuild> {
    const folder = mkdtempSync(join(tmpdir(), 'tenure-image-'));
    // The namespace lives as long as this process, and its mounts with it.
    const holder = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', 'echo; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const build = new DryBuild(context, folder, holder);
    try {
      await new Promise((resolve, reject) => {
        holder.stdout?.once('data', resolve);
        holder.once('error', reject);
        holder.once('exit', () => reject(new Error('no mount namespace of our own: not root?')));
      });
      await build.#inside(['mount', '-t', 'tmpfs', 'tmpfs', folder]);
      for (const stage of stages(readFileSync(join(context, 'Dockerfile'), 'utf8'))) await build.#stage(stage, onStep);
      return build;
    } catch (error) {
      await build[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Makes an image's root read-only, as containers of it should have it. */
  async seal(image: string): Promise<void> {
    await this.#inside(['mount', '-o', 'remount,ro', this.#layer(image).root]);
  }

  /** The command line that runs something as the image's user would; by default the image's own command. */
  command(image: string, command?: readonly string[], env: Readonly<Record<string, string>> = {}): string[] {
    const layer = this.#layer(image);
    return this.#entering({ ...layer, env: { ...layer.env, ...env } }, layer.user, command ?? layer.command);
  }

  /** Runs a command in an image to its end. @returns what it wrote */
  async run(image: string, command: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> {
    const [program = '', ...args] = this.command(image, command, env);
    return (await promisify(execFile)(program, args, { timeout: 60_000 })).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#holder.once('exit', resolve));
    if (this.#holder.exitCode === null && this.#holder.signalCode === null) {
      this.#holder.kill('SIGKILL');
      await gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #stage({ name, from, instructions }: ImageStage, onStep: (line: string) => void): Promise<void> {
    const base = this.#stages.get(from);
    const lower = base?.layers ?? ['/'];
    const [upper = '', work = '', root = ''] = ['up', 'work', 'root'].map((part) => join(this.#folder, name, part));
    await this.#inside(['mkdir', '-p', upper, work, root]);
    const layers = `lowerdir=${lower.join(':')},upperdir=${upper},workdir=${work}`;
    await this.#inside(['mount', '-t', 'overlay', 'overlay', '-o', layers, root]);
    await this.#inside(['mount', '-t', 'proc', 'proc', join(root, 'proc')]);
    await this.#inside(['mount', '--rbind', '/dev', join(root, 'dev')]);
    let layer: Layer = { ...START, ...base, layers: [upper, ...lower], root };
    this.#stages.set(name, layer);
    for (const { name: instruction, rest } of instructions) {
      onStep(`${name}: ${instruction} ${rest}`);
      layer = await this.#step(layer, instruction, rest);
      this.#stages.set(name, layer);
    }
  }

  async #step(layer: Layer, instruction: string, rest: string): Promise<Layer> {
    switch (instruction) {
      case 'WORKDIR':
        await this.#inside(['mkdir', '-p', join(layer.root, rest)]);
        return { ...layer, workdir: rest };
      case 'ENV':
        return { ...layer, env: { ...layer.env, ...Object.fromEntries(rest.split(' ').map(pair)) } };
      case 'USER':
        return { ...layer, user: rest };
      case 'ENTRYPOINT':
        return { ...layer, command: JSON.parse(rest) as string[] };
      case 'CMD':
        return { ...layer, command: [...layer.command, ...(JSON.parse(rest) as string[])] };
      case 'COPY':
        await this.#copy(layer, rest.split(' '));
        return layer;
      case 'RUN':
        await this.#inside(this.#entering(layer, '0:0', ['sh', '-c', rest]).slice(NSENTER));
        return layer;
      case 'EXPOSE':
      case 'STOPSIGNAL':
      case 'HEALTHCHECK':
        return layer;
      default:
        throw new Error(`${instruction} is not known here`);
    }
  }

  async #copy(layer: Layer, words: readonly string[]): Promise<void> {
    const from = /^--from=(.*)$/.exec(words[0] ?? '')?.[1];
    const sources = words.slice(from === undefined ? 0 : 1, -1);
    const target = join(layer.root, layer.workdir, words.at(-1) ?? '');
    const origin = from === undefined ? this.#context : this.#layer(from).root;
    const ignored = from === undefined ? ignoring(join(this.#context, '.dockerignore')) : () => false;
    for (const source of sources) {
      if (ignored(source)) throw new Error(`COPY ${source}: .dockerignore keeps it out`);
      const path = join(origin, source);
      // A folder's contents go into the target, a file beside the others in it.
      const isFolder = from === undefined ? statSync(path).isDirectory() : await this.#isFolder(path);
      const into = isFolder || sources.length > 1 || target.endsWith('/') ? target : join(target, '..');
      await this.#inside(['mkdir', '-p', into]);
      await this.#inside(['cp', '-a', '--no-preserve=ownership', isFolder ? `${path}/.` : path, target]);
    }
  }

  #isFolder(path: string): Promise<boolean> {
    return this.#inside(['test', '-d', path]).then(
      () => true,
      () => false,
    );
  }

  #layer(name: string): Layer {
    const layer = this.#stages.get(name);
    if (layer === undefined) throw new Error(`there is no stage ${name}`);
    return layer;
  }

  #entering({ root, env, workdir }: Layer, user: string, command: readonly string[]): string[] {
    const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const enter = ['chroot', `--userspec=${user}`, root, 'env', '-C', workdir, ...pairs, ...command];
    return ['nsenter', '--mount', `--target=${this.#holder.pid}`, ...enter];
  }

  async #inside(command: readonly string[]): Promise<void> {
    const args = ['--mount', `--target=${this.#holder.pid}`, ...command];
    await promisify(execFile)('nsenter', args, { timeout: 600_000, maxBuffer: 2 ** 24 }).catch((error) => {
      throw new Error(`${command.join(' ')}\n${error.stdout}${error.stderr}`);
    });
  }
}

/** How many words of a command line enter the namespace. */
const NSENTER = 3;

function pair(text: string): [string, string] {
  const [name = '', value = ''] = text.split(/=(.*)/s);
  return [name, value];
}

/** Ours keeps everything out but what it names. */
function ignoring(file: string): (path: string) => boolean {
  const kept = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  return (path) => !kept.some((name) => path === name || path.startsWith(`${name}/`));
}

/** Why it can't be done here; undefined where it can. */
export function cannotBuild(): string | undefined {
  if (process.platform !== 'linux') return 'not Linux';
  if (process.getuid?.() !== 0) return 'not root';
  return undefined;
}
