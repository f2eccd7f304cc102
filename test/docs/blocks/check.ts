import type { Tool } from '../../support/tools.js';
import type { Block } from '../markdown.js';
import type { World } from './world.js';

/** What a block is held against that no other can be held against. */
export interface Check {
  readonly tools: readonly Tool[];
  /** @throws where the block isn't true */
  run(block: Block, world: World): Promise<void>;
}
