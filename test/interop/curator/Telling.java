import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.data.Stat;

/** Says on standard output what happened, dated when it did. Asks the ensemble from a thread of its own: listeners must not. */
final class Telling {
    private final CuratorFramework client;
    private final String path;
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private boolean leads;

    Telling(CuratorFramework client, String path) {
        this.client = client;
        this.path = path;
    }

    void ready() {
        say("ready", "");
    }

    synchronized void led() {
        double at = now();
        leads = true;
        thread.execute(() -> say("led", ",\"at\":" + at + ",\"token\":\"" + token() + "\""));
    }

    /** Said once for each leadership, however many notice. */
    synchronized void lost(String why) {
        if (!leads) {
            return;
        }
        leads = false;
        double at = now();
        thread.execute(() -> say("lost", ",\"at\":" + at + ",\"why\":\"" + why + "\""));
    }

    synchronized boolean leads() {
        return leads;
    }

    /** The czxid of our znode. */
    private String token() {
        try {
            long session = client.getZookeeperClient().getZooKeeper().getSessionId();
            for (String child : client.getChildren().forPath(path)) {
                Stat stat = client.checkExists().forPath(path + "/" + child);
                if (stat != null && stat.getEphemeralOwner() == session) {
                    return Long.toString(stat.getCzxid());
                }
            }
            return "";
        } catch (Exception error) {
            return "";
        }
    }

    /** CLOCK_MONOTONIC in milliseconds: what System.nanoTime() reads on Linux. */
    private static double now() {
        return System.nanoTime() / 1e6;
    }

    private static void say(String event, String fields) {
        System.out.println("{\"event\":\"" + event + "\"" + fields + "}");
    }
}
