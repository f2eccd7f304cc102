/**
 * Runs a block in its scene, and has the scene look at what it did: `in-scene.ts SCENE BLOCK`, both files. In a process of its own,
 * which ends here: a block may have left connections open.
 */
import { pathToFileURL } from 'node:url';

/** What a scene is, besides the names that its block takes. */
interface Scene {
  /** Looks at what the block did, which gives this. @throws where it isn't what the page says */
  afterwards(block: Record<string, unknown>): Promise<void>;
  /** For a block that goes on for ever: resolves when it has done enough. */
  readonly enough?: Promise<unknown>;
}

const [scenePath = '', blockPath = ''] = process.argv.slice(2);
const scene = (await import(pathToFileURL(scenePath).href)) as Scene;
const block: Promise<Record<string, unknown>> = import(pathToFileURL(blockPath).href);
const given = scene.enough === undefined ? await block : await Promise.race([block, scene.enough.then(() => ({}))]);
await scene.afterwards(given);
process.stdout.write('as the page says\n');
process.exit(0);
