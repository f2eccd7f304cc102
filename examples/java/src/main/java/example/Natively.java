package example;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.data.Stat;
import tenure.client.Protocol;

/**
 * A worker that stands in the same queue by itself, with Curator. It has no lease: only the fence keeps its late writes out.
 */
final class Natively {
  private static final String ROOT = "/tenure";

  /** Curator's mutex, which tells the znode that it stands with: {@code _c_<uuid>-lock-<number>}. */
  private static final class Place extends InterProcessMutex {
    Place(CuratorFramework client, String queue) {
      super(client, queue);
    }

    String node() {
      return getLockPath();
    }
  }

  private Natively() {}

  public static void main(String[] args) throws Exception {
    String election = BySidecar.env("ELECTION", "settlement");
    String name = BySidecar.env("WORKER", "java");
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  over.countDown();
                  try {
                    left.await(5, TimeUnit.SECONDS);
                  } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                  }
                }));
    String servers = BySidecar.env("ZK_SERVERS", "127.0.0.1:2181");
    try (CuratorFramework client =
        CuratorFrameworkFactory.newClient(servers, 4_000, 4_000, new ExponentialBackoffRetry(100, 5))) {
      client.getConnectionStateListenable()
          .addListener(
              (changed, state) -> {
                if (!state.isConnected()) over.countDown();
              });
      client.start();
      Ledger ledger = new Ledger();
      Place place = new Place(client, Protocol.queuePath(ROOT, election));
      place.acquire();
      long token = token(client, election, place.node());
      System.out.println(name + " leads: token " + token);
      try {
        do {
          ledger.write(token, name, null);
          System.out.println(name + " wrote with token " + token);
        } while (!over.await(100, TimeUnit.MILLISECONDS));
      } catch (Ledger.StaleToken stale) {
        System.out.println(name + " was refused: " + stale.getMessage());
      }
    } finally {
      // The node goes with the session.
      System.out.println(name + " has left");
      left.countDown();
    }
  }

  /** The record's floor, and the transaction that created our node. */
  private static long token(CuratorFramework client, String election, String node) throws Exception {
    String record = Protocol.termPath(ROOT, election);
    // Where there is none, nobody of Tenure has led here yet.
    byte[] data = client.checkExists().forPath(record) == null ? new byte[0] : client.getData().forPath(record);
    Map<String, Object> read = Protocol.decodeRecord(data);
    Stat stat = client.checkExists().forPath(node);
    if (stat == null) throw new IllegalStateException("our node is gone");
    return Protocol.token(Long.parseLong((String) read.get("floor")), stat.getCzxid());
  }
}
