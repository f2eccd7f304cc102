import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/errors.js';
import { formatServer, parseConnectString } from '../../src/zookeeper/servers.js';

describe('parseConnectString', () => {
  it.each([
    ['zk1', [{ host: 'zk1', port: 2181 }], ''],
    ['zk1:2182', [{ host: 'zk1', port: 2182 }], ''],
    ['zk1:1,zk2:65535', [{ host: 'zk1', port: 1 }, { host: 'zk2', port: 65_535 }], ''], // biome-ignore format: one row
    ['zk-1.prod.example.com.:2181', [{ host: 'zk-1.prod.example.com.', port: 2181 }], ''],
    ['zk_1', [{ host: 'zk_1', port: 2181 }], ''],
    ['[::1]', [{ host: '::1', port: 2181 }], ''],
    ['[2001:db8::1]:2182/a', [{ host: '2001:db8::1', port: 2182 }], '/a'],
    ['[fe80::1%eth0]:2182', [{ host: 'fe80::1%eth0', port: 2182 }], ''],
    ['10.0.0.1/prod', [{ host: '10.0.0.1', port: 2181 }], '/prod'],
    ['zk1/', [{ host: 'zk1', port: 2181 }], ''],
    ['zk1/a/b', [{ host: 'zk1', port: 2181 }], '/a/b'],
    ['zk1/a/b/', [{ host: 'zk1', port: 2181 }], '/a/b'],
    ['zk1/a..b/.c', [{ host: 'zk1', port: 2181 }], '/a..b/.c'],
    ['zk1/größe', [{ host: 'zk1', port: 2181 }], '/größe'],
  ])('reads %s', (text, servers, chroot) => {
    expect(parseConnectString(text)).toEqual({ servers, chroot });
  });

  it.each([
    ['', /no servers are given.*host:port/],
    ['/chroot', /entry 1 of "\/chroot" is empty/],
    [',zk1', /entry 1 of ",zk1" is empty/],
    ['zk1,,zk2', /entry 2 of "zk1,,zk2" is empty/],
    ['zk1,', /entry 2 of "zk1," is empty/],
    ['zk1, zk2', /white space; remove it/],
    ['zk1\n', /white space; remove it/],
    ['zk1:', /port ""; a port is a number from 1 to 65535/],
    ['zk1:0', /port "0"/],
    ['zk1:65536', /port "65536"/],
    ['zk1:-1', /port "-1"/],
    ['zk1:2181x', /port "2181x"/],
    ['zk1:0x885', /port "0x885"/],
    ['zk1:1e3', /port "1e3"/],
    [':2181', /no host before the colon/],
    ['::1', /without brackets; write "\[::1\]:2181"/],
    ['2001:db8::1:2181', /without brackets/],
    ['a:b:c', /more than one colon/],
    ['[::1', /not an IPv6 address in brackets/],
    ['[zk1]:2181', /not an IPv6 address in brackets/],
    ['[]:2181', /not an IPv6 address in brackets/],
    ['[::1]x', /not an IPv6 address in brackets/],
    ['10.0.0.256', /not an IPv4 address/],
    ['10.1', /not an IPv4 address/],
    ['010.0.0.1', /not an IPv4 address/],
    ['2181', /not an IPv4 address/],
    ['-zk', /not a host/],
    ['zk..a', /not a host/],
    ['größe', /not a host/],
    ['user@zk1', /not a host/],
    ['zk1\u0000', /not a host/],
    ['a'.repeat(254), /not a host/],
    ['zookeeper://zk1:2181/a', /looks like a URL; remove "zookeeper:\/\/"/],
    ['zk1//', /chroot "\/\/" .*(slash|segment)/],
    ['zk1//a', /chroot "\/\/a" has an empty segment/],
    ['zk1/a//', /chroot "\/a\/\/" has an empty segment/],
    ['zk1/./a', /has the segment "\."/],
    ['zk1/a/..', /has the segment "\.\."/],
    ['zk1/a\u0001', /a character that ZooKeeper refuses/],
    ['zk1/a,zk2/a', /holds a comma; give the chroot once/],
  ])('refuses %j', (text, message) => {
    expect(() => parseConnectString(text)).toThrow(InvalidOptionError);
    expect(() => parseConnectString(text)).toThrow(message);
  });

  it('names the option that the text came from', () => {
    expect(() => parseConnectString('zk1:x', 'TENURE_SERVERS')).toThrow(/^TENURE_SERVERS: "zk1:x"/);
    expect(() => parseConnectString('', 'a')).toThrow(expect.objectContaining({ option: 'a', code: 'INVALID_OPTION' }));
    expect(() => parseConnectString(undefined as never)).toThrow(InvalidOptionError);
  });

  const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9-]{0,10}[a-z0-9_])?$/);
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => `h${labels.join('.')}`);
  const server = fc.record({ host: fc.oneof(name, fc.ipV4(), fc.ipV6()), port: fc.integer({ min: 1, max: 65_535 }) });
  const segment = fc.stringMatching(/^[a-zA-Z0-9_~ä-ü-]{1,12}$/);

  it('reads back whatever is formatted', () => {
    fc.assert(
      fc.property(
        fc.array(server, { minLength: 1, maxLength: 7 }),
        fc.array(segment, { maxLength: 4 }),
        (servers, path) => {
          const chroot = path.map((part) => `/${part}`).join('');
          expect(parseConnectString(servers.map(formatServer).join(',') + chroot)).toEqual({ servers, chroot });
        },
      ),
    );
  });

  it('reads any text as something sane or refuses it with InvalidOptionError', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('a', '1', '.', ',', ':', '/', '[', ']', '-', '%', ' ') }),
    );
    fc.assert(
      fc.property(text, (input) => {
        let parsed: ReturnType<typeof parseConnectString>;
        try {
          parsed = parseConnectString(input);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidOptionError);
          return;
        }
        expect(parsed.servers.length).toBeGreaterThan(0);
        for (const { host, port } of parsed.servers) {
          expect(host).toMatch(/^[\w.:%-]+$/);
          expect(port).toBeGreaterThan(0);
        }
        expect(parsed.chroot).toMatch(/^(\/[^/]+)*$/);
        // What was read says the same when it is written out in full.
        const full = parsed.servers.map(formatServer).join(',') + parsed.chroot;
        expect(parseConnectString(full)).toEqual(parsed);
      }),
      { numRuns: 2000 },
    );
  });
});
