import { Redis as IoRedis } from 'ioredis';
import { createClient } from 'redis';
import { startRedis } from '../../deploy/local/index.js';
import { type RedisClient, redisGuard } from '../../src/fencing/redis.js';
import { type Access, guardConformance, type Harness } from './guard.js';

interface Connected {
  readonly client: RedisClient;
  close(): Promise<unknown>;
}

guardConformance('Redis, ioredis', () =>
  redisHarness(async (port) => {
    const client = new IoRedis({ port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    return { client, close: async () => client.disconnect() };
  }),
);

guardConformance('Redis, node-redis', () =>
  redisHarness(async (port) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}` });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: async () => client.destroy() };
  }),
);

async function redisHarness(connect: (port: number) => Promise<Connected>): Promise<Harness> {
  const server = await startRedis({ appendOnly: true });
  const reader = new IoRedis({ port: server.port, host: '127.0.0.1' });
  reader.on('error', () => undefined);
  const closing: (() => Promise<unknown>)[] = [async () => reader.disconnect()];
  const logKey = redisGuard(reader).key.bind(redisGuard(reader));
  return {
    completeLog: true,
    leaseKnown: true,
    async open(observer): Promise<Access> {
      const { client, close } = await connect(server.port);
      closing.push(close);
      const guard = redisGuard(client, observer && { observer });
      return {
        check: (term, resource) => guard.check(term, resource),
        highest: (resource) => guard.highest(resource),
        async write(term, resource, pause) {
          const append = () => [['RPUSH', logKey(resource, 'log'), term.token] as const];
          // Without a pause there is nothing between check and write that could be paused: one script does both.
          if (pause === undefined) return await guard.write(term, resource, append());
          return await guard.hold(term, resource, async (hold) => {
            await pause();
            await hold.write(append());
          });
        },
      };
    },
    async log(resource) {
      return (await reader.lrange(logKey(resource, 'log'), 0, -1)).map(BigInt);
    },
    async restart() {
      await server.kill();
      await server.start();
    },
    async close() {
      await Promise.allSettled(closing.map((each) => each()));
      await server.close();
    },
  };
}
