import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, leasePort, type PortLease, startEnsemble } from '../../../deploy/local/index.js';
import { UntrustedError } from '../../../src/errors.js';
import { connect } from '../../../src/index.js';
import type { TlsOptions } from '../../../src/zookeeper/wire/tls.js';
import { nextState } from '../../support/driver-tests.js';
import { invoke } from '../../support/invocation.js';
import { eachVersion } from '../../support/versions.js';
import { Relay } from '../native/relay.js';
import { Authority, type Certificate, secureServer } from './certificates.js';
import { bytes, closeAll, freshPath, open, refusal } from './support.js';

eachVersion(['openssl'], (versioned) => {
  let directory: string;
  let ours: Authority;
  let others: Authority;
  let client: Certificate;
  let port: PortLease;
  let ensemble: Ensemble;
  let tls: TlsOptions;
  let address: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tenure-tls-'));
    ours = await Authority.make(join(directory, 'ours'));
    others = await Authority.make(join(directory, 'others'));
    const server = await ours.sign('server', 'DNS:localhost,IP:127.0.0.1');
    client = await ours.sign('client', 'DNS:client');
    port = await leasePort();
    ensemble = await startEnsemble({
      size: 1,
      tickTime: 500,
      ...versioned,
      extraConfig: secureServer(ours, server, port.port),
    });
    address = `localhost:${port.port}`;
    tls = { caFile: ours.caFile, certFile: client.certFile, keyFile: client.keyFile };
  }, 120_000);

  afterAll(async () => {
    await closeAll();
    await ensemble?.close();
    port?.release();
    rmSync(directory, { recursive: true, force: true });
  });

  it('carries a session, by name and by address', async () => {
    for (const servers of [address, `127.0.0.1:${port.port}`]) {
      const session = await open(servers, { tls });
      const path = freshPath();
      await session.create(path, bytes('over TLS'), 'ephemeral');
      expect(Buffer.from((await session.read(path))?.data ?? []).toString()).toBe('over TLS');
      expect(await session.whoAmI()).toContainEqual({ scheme: 'x509', id: 'CN=client' });
    }
  });

  it('carries large replies, which come in many records', async () => {
    const session = await open(address, { tls });
    const path = freshPath();
    await session.create(path, Buffer.alloc(900_000, 'x'), 'persistent');
    const replies = await Promise.all(Array.from({ length: 8 }, () => session.read(path)));
    for (const reply of replies) expect(reply?.data.length).toBe(900_000);
    await session.remove(path);
  });

  it('keeps nodes to the holder of the certificate', async () => {
    const session = await open(address, { tls, acl: [{ scheme: 'auth', id: '', permissions: 31 }] });
    const path = freshPath();
    await session.create(path, bytes(''), 'persistent');
    const other = await ours.sign('other', 'DNS:other');
    const stranger = await open(address, { tls: { ...tls, certFile: other.certFile, keyFile: other.keyFile } });
    expect(await refusal(stranger.read(path))).toMatchObject({ kind: 'no_auth' });
    expect(await session.read(path)).not.toBeNull();
  });

  it('is resumed by a new connection', async () => {
    const relay = await Relay.listen({ port: 0, targetPort: port.port });
    const session = await open(`localhost:${relay.port}`, { tls });
    const { id } = session;
    const down = nextState(session, 'disconnected');
    relay.drop();
    await down;
    await nextState(session, 'connected');
    expect(session.id).toBe(id);
    await session.close();
    await relay.close();
  });

  const refused: [string, () => Promise<TlsOptions>, RegExp][] = [
    ['a server whose authority is another', async () => ({ ...tls, caFile: others.caFile }), /certificate|signature/i],
    ['a server whose authority nobody knows', async () => ({ ...tls, caFile: undefined }), /certificate/i],
    ['a server by another name', async () => ({ ...tls, serverName: 'zk.example' }), /altnames|zk\.example/i],
    ['us, without a certificate', async () => ({ caFile: ours.caFile }), /alert|certificate|TLS/i],
    [
      'us, with a certificate of another authority',
      async () => {
        const { certFile, keyFile } = await others.sign('client', 'DNS:client');
        return { ...tls, certFile, keyFile };
      },
      /alert|certificate|TLS/i,
    ],
    [
      'us, with a certificate that is over',
      async () => {
        const { certFile, keyFile } = await ours.sign('old', 'DNS:old', -1);
        return { ...tls, certFile, keyFile };
      },
      /alert|certificate|TLS/i,
    ],
  ];

  it.each(refused)('refuses %s, at once and with the cause', async (_what, options, cause) => {
    const opening = open(address, { tls: await options(), connectTimeoutMs: 20_000 });
    const error = await opening.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(UntrustedError);
    expect((error as Error).message).toMatch(cause);
    expect((error as Error).message).toContain(`:${port.port}`);
  });

  it('ends at the deadline on a port that speaks no TLS, and says so', async () => {
    const plain = ensemble.connectString;
    await expect(open(plain, { tls, connectTimeoutMs: 1_500 })).rejects.toThrow(/no session with|no connection with/);
    await expect(open(address, { connectTimeoutMs: 1_500 })).rejects.toThrow(/no session with/);
  });

  it('takes new files with the next connection', async () => {
    const certFile = join(directory, 'rotating.pem');
    const keyFile = join(directory, 'rotating.key');
    const rotate = (to: Certificate) => {
      copyFileSync(to.certFile, certFile);
      copyFileSync(to.keyFile, keyFile);
    };
    rotate(client);
    const relay = await Relay.listen({ port: 0, targetPort: port.port });
    const session = await open(`localhost:${relay.port}`, { tls: { ...tls, certFile, keyFile } });
    rotate(await ours.sign('successor', 'DNS:successor'));
    const down = nextState(session, 'disconnected');
    relay.drop();
    await down;
    await nextState(session, 'connected');
    expect(await session.whoAmI()).toContainEqual({ scheme: 'x509', id: 'CN=successor' });
    // Files that are gone, or half written, cost attempts and not the session.
    writeFileSync(certFile, 'half');
    const downAgain = nextState(session, 'disconnected');
    relay.drop();
    await downAgain;
    rotate(client);
    await nextState(session, 'connected', 3_500);
    await session.close();
    await relay.close();
  });

  it('lets nobody join an election that is closed to another certificate', async () => {
    const [admin, other] = await Promise.all([ours.sign('ops', 'DNS:ops'), ours.sign('mallory', 'DNS:mallory')]);
    const files = ['--tls-ca', ours.caFile, '--tls-cert', admin.certFile, '--tls-key', admin.keyFile];
    const where = ['--servers', `${address}/by-certificate`];
    const said = await invoke(['provision', 'e', ...where, ...files, '--worker', 'x509:CN=client', '--json']);
    expect(said).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(said.out)).toMatchObject({ workersAcl: 'x509:CN=ops:r,x509:CN=client:rw' });
    const by = ({ certFile, keyFile }: Certificate) => ({
      servers: `${address}/by-certificate`,
      driver: 'wire' as const,
      tls: { caFile: ours.caFile, certFile, keyFile },
      acl: [{ scheme: 'auth', id: '', permissions: 'rw' }],
      sessionTimeoutMs: 4_000,
    });
    await using worker = await connect(by(client));
    const term = await worker.election('e').campaign();
    term.assert();
    await using stranger = await connect(by(other));
    const election = stranger.election('e');
    await expect(election.campaign()).rejects.toMatchObject({ kind: 'no_auth' });
    await expect(election.current()).rejects.toMatchObject({ kind: 'no_auth' });
    await expect(election.pause({ by: 'mallory', reason: 'none' })).rejects.toMatchObject({ kind: 'no_auth' });
    await expect(stranger.election('another').campaign()).rejects.toMatchObject({ kind: 'no_auth' });
    // Nor by the plain port, where nobody shows a certificate.
    await using plain = await connect({ servers: `${ensemble.connectString}/by-certificate`, driver: 'wire' });
    await expect(plain.election('e').campaign()).rejects.toMatchObject({ kind: 'no_auth' });
    term.assert();
    expect((await worker.election('e').current()).candidates).toHaveLength(1);
    await term.resign();
  });

  it('elects by connect()', async () => {
    await using tenure = await connect({
      servers: `${address}/secure`,
      driver: 'wire',
      tls: { caFile: ours.caFile, certFile: client.certFile, keyFile: client.keyFile },
      acl: [{ scheme: 'auth', id: '', permissions: 'cdrwa' }],
      sessionTimeoutMs: 4_000,
    });
    const term = await tenure.election('tls').campaign();
    term.assert();
    const stranger = await open(ensemble.connectString);
    expect(await refusal(stranger.read('/secure/tenure/tls/term'))).toMatchObject({ kind: 'no_auth' });
    await term.resign();
  });
});
