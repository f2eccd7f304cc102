import { existsSync } from 'node:fs';
import type { Distribution, Progress } from './distribution.js';
import { archiveFile } from './jvm.js';

export async function ensureArchive(distribution: Distribution, _progress: Progress): Promise<void> {
  if (existsSync(archiveFile(distribution))) return;
}
