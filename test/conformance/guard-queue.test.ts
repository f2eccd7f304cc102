import { Redis as IoRedis } from 'ioredis';
import { startRedis } from '../../deploy/local/index.js';
import { fencingHeaders, queueGate } from '../../src/fencing/queue.js';
import { redisGuard } from '../../src/fencing/redis.js';
import { type Access, guardConformance, type Harness } from './guard.js';

interface Message {
  readonly headers: Readonly<Record<string, Buffer>>;
  readonly pause: (() => Promise<void>) | undefined;
}

guardConformance('queue consumers before Redis', queueHarness);

/** As a broker would carry it: headers are bytes. */
function message(headers: Record<string, string>, pause?: () => Promise<void>): Message {
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)])),
    pause,
  };
}

async function queueHarness(): Promise<Harness> {
  const server = await startRedis({ appendOnly: true });
  const clients: IoRedis[] = [];
  const connect = () => {
    const client = new IoRedis({ port: server.port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };
  const reader = connect();
  const keys = redisGuard(reader);
  return {
    completeLog: true,
    leaseKnown: false,
    async open(observer): Promise<Access> {
      const guard = redisGuard(connect(), observer && { observer });
      const gate = queueGate({
        guard,
        header: (each: Message, name) => each.headers[name],
        // The consumer knows nothing of leases: this is what a message may take.
        timeoutMs: 700,
      });
      const consume = async (each: Message, write: boolean) => {
        const result = await gate(each, async (hold, term) => {
          await each.pause?.();
          const resource = decodeURIComponent(String(each.headers['fencing-resource']));
          if (write) await hold.write([['RPUSH', keys.key(resource, 'log'), term.token]]);
        });
        if (result.outcome === 'dropped') throw result.error;
      };
      return {
        check: async (term, resource) => await consume(message(fencingHeaders(term, resource)), false),
        write: async (term, resource, pause) => await consume(message(fencingHeaders(term, resource), pause), true),
        highest: (resource) => guard.highest(resource),
      };
    },
    async log(resource) {
      return (await reader.lrange(keys.key(resource, 'log'), 0, -1)).map(BigInt);
    },
    async restart() {
      await server.kill();
      await server.start();
    },
    async close() {
      for (const client of clients) client.disconnect();
      await server.close();
    },
  };
}
