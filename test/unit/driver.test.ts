import { afterEach, expect, it, vi } from 'vitest';
import { driverChoice, openDriver } from '../../src/driver.js';
import { DriverUnavailableError, InvalidOptionError } from '../../src/errors.js';
import { resolveConnectOptions } from '../../src/options.js';

const NONE = {};
const SERVERS = { servers: [{ host: '127.0.0.1', port: 1 }], sessionTimeoutMs: 4_000, connectTimeoutMs: 4_000 };

afterEach(() => {
  vi.doUnmock('zookeeper');
  vi.resetModules();
});

function withoutPackage(): void {
  vi.doMock('zookeeper', () => {
    throw new Error('no native build was found');
  });
}

/** What was said, to the logger and to the process. */
async function said(
  driver: 'native' | 'wire' | undefined,
): Promise<{ name: string; log: unknown[]; warnings: string[] }> {
  const log: unknown[] = [];
  const warnings: string[] = [];
  const hear = (warning: Error): void =>
    void warnings.push(`${(warning as NodeJS.ErrnoException).code}: ${warning.message}`);
  process.on('warning', hear);
  try {
    const choice = driverChoice(driver === undefined ? {} : { driver }, NONE);
    const { name } = await openDriver(choice, SERVERS, { warn: (_, message) => void log.push(message) });
    await new Promise((resolve) => setTimeout(resolve, 10));
    return { name, log, warnings: warnings.filter((line) => line.startsWith('TENURE_')) };
  } finally {
    process.off('warning', hear);
  }
}

it('is native by default, and says nothing', async () => {
  expect(await said(undefined)).toEqual({ name: 'native', log: [], warnings: [] });
});

it('is wire where the package can not be loaded, and that is said twice', async () => {
  withoutPackage();
  const { name, log, warnings } = await said(undefined);
  expect(name).toBe('wire');
  expect(log).toHaveLength(1);
  expect(log[0]).toMatch(/^the driver is 'wire'.*not built.*npm rebuild zookeeper.*TENURE_DRIVER=wire/s);
  expect(warnings).toEqual([expect.stringMatching(/^TENURE_WIRE_DRIVER: the driver is 'wire'/)]);
});

it('is what was asked for by name, or nothing', async () => {
  withoutPackage();
  await expect(said('native')).rejects.toThrow(DriverUnavailableError);
  expect(await said('wire')).toEqual({ name: 'wire', log: [], warnings: [] });
});

it('can be asked for by the environment, which the option overrules', () => {
  expect(driverChoice({}, { TENURE_DRIVER: 'wire' }).driver).toBe('wire');
  expect(driverChoice({ driver: 'native' }, { TENURE_DRIVER: 'wire' }).driver).toBe('native');
  expect(driverChoice({}, { TENURE_DRIVER: '' }).driver).toBeUndefined();
  expect(() => driverChoice({}, { TENURE_DRIVER: 'java' })).toThrow(/TENURE_DRIVER "java" must be "native" or "wire"/);
});

it.each([
  [{ driver: 'curator' }, 'driver', /must be "native" or "wire"/],
  [{ tls: {} }, 'tls', /tls needs driver: 'wire', the driver here is "native"/],
  [{ acl: [] }, 'acl', /acl needs a driver by name/],
  [{ acl: [], driver: 'native' }, 'acl', /must be a list/],
  [{ driver: 'wire', tls: { ca: 'x' } }, 'ca', /no option "ca"/],
  [{ driver: 'wire', tls: { caFile: '' } }, 'tls.caFile', /isn't empty/],
  [{ driver: 'wire', tls: { certFile: 'a' } }, 'tls.keyFile', /certFile is given without tls.keyFile/],
  [{ driver: 'wire', tls: { keyFile: 'a' } }, 'tls.certFile', /keyFile is given without tls.certFile/],
  [{ driver: 'wire', tls: { minVersion: 'SSLv3' } }, 'tls.minVersion', /TLSv1.2/],
  [{ driver: 'wire', acl: [] }, 'acl', /must be a list/],
  [{ driver: 'wire', acl: [{ scheme: 'world', id: 'anyone' }] }, 'acl', /each of the three is text/],
  [{ driver: 'wire', acl: [{ scheme: 'world', id: 'anyone', permissions: 'rx' }] }, 'acl', /"rx" must be letters/],
  [{ driver: 'wire', acl: [{ scheme: 'world', id: 'anyone', permissions: 'rr' }] }, 'acl', /each once/],
] as const)('refuses %j', (options, option, message) => {
  const refusing = () => resolveConnectOptions({ servers: 'zk', ...(options as object) });
  expect(refusing).toThrow(InvalidOptionError);
  expect(refusing).toThrow(expect.objectContaining({ option, message: expect.stringMatching(message) }));
});

it('reads the letters of permissions', () => {
  const { acl } = driverChoice({ driver: 'wire', acl: [{ scheme: 'auth', id: '', permissions: 'cdrwa' }] }, NONE);
  expect(acl).toEqual([{ scheme: 'auth', id: '', permissions: 31 }]);
  const { acl: some } = driverChoice({ driver: 'wire', acl: [{ scheme: 'ip', id: '::1', permissions: 'ra' }] }, NONE);
  expect(some).toEqual([{ scheme: 'ip', id: '::1', permissions: 17 }]);
});
