import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.RetryNTimes;

/**
 * A crowd of Curator's latches in one process; ../README.md has the lines.
 *
 * <pre>Crowd SERVERS PATH COUNT SESSION_TIMEOUT_MS one|many</pre>
 */
final class Crowd {
    private Crowd() {}

    public static void main(String[] arguments) throws Exception {
        String path = arguments[1];
        int count = Integer.parseInt(arguments[2]);
        int timeoutMs = Integer.parseInt(arguments[3]);
        boolean many = arguments[4].equals("many");
        List<CuratorFramework> clients = new ArrayList<>();
        List<LeaderLatch> latches = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            if (clients.isEmpty() || !many) {
                clients.add(open(arguments[0], timeoutMs));
            }
            String id = Integer.toString(index);
            LeaderLatch latch = new LeaderLatch(clients.get(clients.size() - 1), many ? path + "/" + id : path, id);
            latch.addListener(new LeaderLatchListener() {
                @Override
                public void isLeader() {
                    say("led", id);
                }

                @Override
                public void notLeader() {}
            });
            latches.add(latch);
        }
        System.out.println("{\"event\":\"ready\"}");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("join")) {
                for (LeaderLatch latch : latches) {
                    latch.start();
                }
            } else if (line.equals("leave")) {
                for (LeaderLatch latch : latches) {
                    if (latch.hasLeadership()) {
                        say("lost", latch.getId());
                        latch.close();
                        break;
                    }
                }
            }
        }
        for (CuratorFramework client : clients) {
            client.close();
        }
        System.exit(0);
    }

    private static CuratorFramework open(String servers, int timeoutMs) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(timeoutMs)
                .connectionTimeoutMs(timeoutMs)
                .retryPolicy(new RetryNTimes(600, 100))
                .build();
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** Dated by CLOCK_MONOTONIC, in milliseconds: what System.nanoTime() reads on Linux. */
    private static synchronized void say(String event, String id) {
        System.out.println("{\"event\":\"" + event + "\",\"at\":" + System.nanoTime() / 1e6 + ",\"id\":\"" + id + "\"}");
    }
}
