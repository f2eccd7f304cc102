import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { judge, type Probed } from '../../src/zookeeper/ensemble.js';
import { isHierarchical, parseMembership } from '../../src/zookeeper/membership.js';
import {
  fromMntr,
  fromSrvr,
  type ServerMode,
  type ServerStatus,
  serverStatus,
} from '../../src/zookeeper/server-status.js';

const srvr = (mode: string, zxid = '0x500000007') =>
  `Zookeeper version: 3.9.5\nLatency min/avg/max: 0/1.25/30\nReceived: 3\nOutstanding: 4\nZxid: ${zxid}\nMode: ${mode}\nNode count: 5\n`;

const IDLE = 'This ZooKeeper instance is not currently serving requests\n';
const refused = (word: string) => `${word} is not executed because it is not in the whitelist.\n`;

const status = (mode: ServerMode, more: Partial<ServerStatus> = {}): ServerStatus => ({
  ...fromSrvr(IDLE),
  mode,
  ...more,
});

/** Servers zk1, zk2, … with these answers, all of them voters unless told otherwise. */
function ensemble(...answers: (ServerStatus & { voter?: boolean })[]): Probed[] {
  return answers.map(({ voter = true, ...rest }, index) => ({
    member: { address: { host: `zk${index + 1}`, port: 2181 }, voter },
    status: rest,
  }));
}

const leader = (syncedFollowers: number | null, zxid = 0x5_0000_0007n) => status('leader', { syncedFollowers, zxid });
const follower = (zxid = 0x5_0000_0007n) => status('follower', { zxid });
const down = status('down', { error: 'no answer within 500 ms' });

describe("a server's answers", () => {
  it('are read from srvr', () => {
    expect(fromSrvr(srvr('follower'))).toEqual({
      mode: 'follower',
      latencyMs: { min: 0, avg: 1.25, max: 30 },
      outstanding: 4,
      zxid: 0x5_0000_0007n,
      syncedFollowers: null,
      version: '3.9.5',
      refused: [],
      error: '',
    });
    expect(fromSrvr(srvr('read-only')).mode).toBe('read-only');
    expect(fromSrvr(IDLE).mode).toBe('looking');
    expect(fromSrvr('HTTP/1.1 400 Bad Request\r\n').mode).toBe('unknown');
    expect(fromSrvr(refused('srvr'))).toMatchObject({ mode: 'unknown', refused: ['srvr'] });
  });

  it('are completed by mntr, where only voters count as in step', () => {
    const mntr =
      'zk_server_state\tleader\nzk_min_latency\t0\nzk_avg_latency\t0.5\nzk_max_latency\t9\nzk_outstanding_requests\t2\n' +
      'zk_synced_followers\t4.0\nzk_synced_non_voting_followers\t1\n';
    expect(fromMntr(mntr, fromSrvr(srvr('leader')))).toMatchObject({ mode: 'leader', syncedFollowers: 3 });
    expect(fromMntr(mntr, fromSrvr(refused('srvr')))).toMatchObject({
      mode: 'leader',
      latencyMs: { min: 0, avg: 0.5, max: 9 },
      outstanding: 2,
      syncedFollowers: 3,
    });
    const vague = fromMntr(refused('mntr'), fromSrvr(srvr('leader')));
    expect(vague).toMatchObject({ mode: 'leader', syncedFollowers: null, refused: ['mntr'] });
    expect(fromMntr(IDLE, fromSrvr(srvr('leader'))).mode).toBe('looking');
  });

  it('count as down when they are late, broken off or endless', async () => {
    const behaviours = [
      () => {},
      (socket: { destroy(): void }) => socket.destroy(),
      (socket: { write(text: string): void; on(event: string, fn: () => void): void }) => {
        socket.on('error', () => {});
        for (let i = 0; i < 40; i++) socket.write('x'.repeat(65_536));
      },
    ];
    for (const behave of behaviours) {
      const sockets = new Set<{ destroy(): void }>();
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        behave(socket);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const start = performance.now();
      const found = await serverStatus({ host: '127.0.0.1', port }, 300);
      expect(found.mode).toBe('down');
      expect(found.error).not.toBe('');
      expect(performance.now() - start).toBeLessThan(3_000);
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});

describe('membership', () => {
  const known = [{ host: 'zk1', port: 2281 }];

  it('is read from the dynamic configuration', () => {
    const text = [
      'server.1=zk1:2888:3888:participant;0.0.0.0:2181',
      'server.2=zk2:2888:3888:participant;zk2-clients:2182',
      'server.3=[2001:db8::3]:2888:3888:participant;[::]:2181',
      'server.4=zk4:2888:3888|zk4b:2889:3889:participant;2184',
      'server.5=zk5:2888:3888:observer;2185',
      'server.6=zk1:2888:3888',
      'version=100000000',
    ].join('\n');
    expect(parseMembership(text, known)).toEqual([
      { address: { host: 'zk1', port: 2181 }, voter: true },
      { address: { host: 'zk2-clients', port: 2182 }, voter: true },
      { address: { host: '2001:db8::3', port: 2181 }, voter: true },
      { address: { host: 'zk4', port: 2184 }, voter: true },
      { address: { host: 'zk5', port: 2185 }, voter: false },
      // Its line has no client port: the connect string knows it.
      { address: { host: 'zk1', port: 2281 }, voter: true },
    ]);
  });

  it('is unknown where there are no such lines', () => {
    expect(parseMembership('version=0', known)).toBeNull();
    expect(parseMembership('', known)).toBeNull();
  });

  it('shows where votes are weighed', () => {
    expect(isHierarchical('server.1=a:1:2\ngroup.1=1:2:3\nweight.1=1')).toBe(true);
    expect(isHierarchical('server.1=a:1:2')).toBe(false);
  });
});

describe('a quorum', () => {
  it.each<[string, Probed[], boolean, number]>([
    ['a standalone server', ensemble(status('standalone')), true, 1],
    ['a leader with two followers', ensemble(leader(2), follower(), follower()), true, 3],
    ['a leader with one of two', ensemble(leader(1), follower(), down), true, 2],
    ['a leader that says two where one is frozen', ensemble(leader(2), follower(), down), true, 2],
    ['a leader that says two where both are frozen', ensemble(leader(2), down, down), false, 1],
    [
      'a cut-off leader that says two, while they elect',
      ensemble(leader(2), status('looking'), status('looking')),
      false,
      1,
    ],
    ['followers that are not in step by their leader', ensemble(leader(0), follower(), follower()), false, 3],
    ['followers whose leader is gone', ensemble(down, follower(), follower()), false, 2],
    ['nobody', ensemble(down, down, down), false, 0],
    ['those that may not say', ensemble(status('unknown'), status('unknown'), status('unknown')), false, 0],
    ['five with two down', ensemble(leader(2), follower(), follower(), down, down), true, 3],
    ['five with three down', ensemble(leader(4), follower(), down, down, down), false, 2],
    [
      'observers that are no voters',
      ensemble(leader(0), down, down, { ...status('observer'), voter: false }, { ...status('observer'), voter: false }),
      false,
      1,
    ],
    ['a leader whose mntr is not allowed, by its followers', ensemble(leader(null), follower(), down), true, 2],
    ['a leader whose mntr is not allowed, without followers', ensemble(leader(null), down, down), false, 1],
  ])('of %s', (_, found, ok, healthy) => {
    const health = judge(found);
    expect(health.quorumOk).toBe(ok);
    expect(health.healthyVoters).toBe(healthy);
    expect(health.voters).toBe(found.filter(({ member }) => member.voter).length);
  });

  it('is counted for the leader of the newest epoch, whatever an older one still says', () => {
    const health = judge(ensemble(leader(2, 0x5_0000_0100n), leader(1, 0x6_0000_0001n), follower(0x6_0000_0001n)));
    expect(health.leader).toBe('zk2:2181');
    expect(health.quorumOk).toBe(true);
    expect(health.healthyVoters).toBe(2);
    expect(health.findings).toEqual(['zk1:2181: still calls itself leader, in an older epoch: cut off']);
  });

  it('comes with how far each server lags', () => {
    const servers = ensemble(
      leader(2, 0x6_0000_0010n),
      follower(0x6_0000_0007n),
      follower(0x5_0000_ffffn),
      follower(0x6_0000_0011n),
      down,
    );
    expect(judge(servers).servers.map(({ zxidLag }) => zxidLag)).toEqual([0, 9, 16, 0, null]);
  });

  it('comes with findings that say what to allow, and who does not answer', () => {
    const vague = judge(ensemble(status('leader', { refused: ['mntr'] }), follower(), down)).findings;
    expect(vague).toEqual([
      expect.stringMatching(/^zk1:2181: mntr is not allowed.*4lw\.commands\.whitelist=srvr,mntr/),
      'zk3:2181: no answer from here (no answer within 500 ms)',
    ]);
    const mute = judge(ensemble(status('unknown', { refused: ['srvr', 'mntr'] }))).findings;
    expect(mute).toEqual([expect.stringMatching(/^zk1:2181: no word is allowed/)]);
    expect(judge(ensemble(down, follower(), follower())).findings.at(-1)).toMatch(/no leader does/);
    expect(judge(ensemble(leader(2), follower(), follower()), ['before']).findings).toEqual(['before']);
  });
});
