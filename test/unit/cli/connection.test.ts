import { expect, it } from 'vitest';
import { type ConnectionValues, connectOptions } from '../../../src/cli/connection.js';
import type { Context } from '../../../src/cli/context.js';
import { silentLogger } from '../../../src/election/host.js';

const context = { env: {}, logger: silentLogger, signal: new AbortController().signal } as unknown as Context;

const options = (acl: string, driver?: 'native' | 'wire') =>
  connectOptions(context, { servers: 'zk', root: '/tenure', acl, driver, tls: false } as unknown as ConnectionValues);

const entry = (scheme: string, id: string, permissions: string) => ({ scheme, id, permissions });

it.each([
  ['auth::cdrwa', [entry('auth', '', 'cdrwa')]],
  ['world:anyone:r,auth::rw', [entry('world', 'anyone', 'r'), entry('auth', '', 'rw')]],
  ['digest:ops:hash+/=:r', [entry('digest', 'ops:hash+/=', 'r')]],
  // The subject of a certificate has commas, and may have colons.
  ['x509:CN=a,O=b:c,C=de:rw,ip:::1:r', [entry('x509', 'CN=a,O=b:c,C=de', 'rw'), entry('ip', '::1', 'r')]],
] as const)('reads the ACL %s', (text, acl) => {
  expect(options(text)).toMatchObject({ acl, driver: 'wire' });
  expect(options(text, 'native')).toMatchObject({ acl, driver: 'native' });
});

it.each(['everybody', 'auth::x', 'auth:rw', 'auth::rw,', ',auth::rw', 'auth::rw,everybody'])('refuses %s', (text) => {
  expect(() => options(text)).toThrow(/must be scheme:id:permissions/);
});
