import { execFileSync } from 'node:child_process';
import { afterEach, expect, it, vi } from 'vitest';
import { DriverUnavailableError } from '../../src/errors.js';
import { loadAddon } from '../../src/zookeeper/native/addon.js';

afterEach(() => {
  vi.doUnmock('zookeeper');
  vi.resetModules();
});

it('says what to do when the package is missing or was not built', async () => {
  vi.doMock('zookeeper', () => {
    throw new Error('no native build was found');
  });
  const loading = loadAddon();
  await expect(loading).rejects.toThrow(DriverUnavailableError);
  await expect(loading).rejects.toThrow(/installed but was not built.*npm rebuild zookeeper/s);
});

it.each([
  ['not a class', {}],
  ['a class without the addon inside', class {}],
  [
    'an older one',
    class {
      native = { init(): void {} };
    },
  ],
])('says what to do when the package is another one: %s', async (_, other) => {
  vi.doMock('zookeeper', () => ({ default: other }));
  await expect(loadAddon()).rejects.toThrow(/not one that the native driver knows.*zookeeper@7\.3\.0/);
});

it('keeps the addon from writing to standard output, whatever is collected before the first session', () => {
  const program = `
    import { loadAddon } from ${JSON.stringify(new URL('../../src/zookeeper/native/addon.ts', import.meta.url).href)};
    await loadAddon();
    for (let turn = 0; turn < 5; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      gc();
    }`;
  const printed = execFileSync(
    process.execPath,
    ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  expect(printed).toBe('');
});
