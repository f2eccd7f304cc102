import { describe } from 'vitest';
import { missing, type Tool } from './tools.js';

/** The oldest release of ZooKeeper that is supported; it is fetched by Maven. */
export const OLDEST = '3.8.4';

/** What a world or an ensemble is started with: another version than the pinned one, or nothing. */
export type Versioned = { readonly version?: string };

/**
 * Declares tests for the oldest and the pinned version. Where something isn't installed the reason is in the name, and with
 * TENURE_REQUIRE_ALL=1 they run and fail.
 */
export function eachVersion(tools: readonly Tool[], declare: (versioned: Versioned) => void): void {
  for (const version of [OLDEST, undefined]) {
    const absent = missing(...(version === undefined ? [] : ['mvn' as const]), ...tools);
    const title = `ZooKeeper ${version ?? 'as it is pinned'}${absent === undefined ? '' : ` (${absent})`}`;
    describe.skipIf(absent !== undefined && !process.env['TENURE_REQUIRE_ALL'])(title, () =>
      declare(version === undefined ? {} : { version }),
    );
  }
}
