import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

/**
 * A candidate by Curator's own recipes; README.md beside this folder has the protocol.
 *
 * <pre>Candidate SERVERS PATH ID SESSION_TIMEOUT_MS RECIPE</pre>
 *
 * RECIPE: `selector` or `latch`.
 */
final class Candidate {
    /** One candidacy. */
    interface Campaign {
        /** Gives the leadership up, or the place in the queue. */
        void leave() throws Exception;
    }

    private Candidate() {}

    public static void main(String[] arguments) throws Exception {
        String path = arguments[1];
        String id = arguments[2];
        int timeoutMs = Integer.parseInt(arguments[3]);
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(arguments[0])
                .sessionTimeoutMs(timeoutMs)
                .connectionTimeoutMs(timeoutMs)
                .retryPolicy(new RetryNTimes(600, 100))
                .build();
        client.start();
        client.blockUntilConnected();
        Telling telling = new Telling(client, path);
        telling.ready();
        Campaign campaign = null;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("join")) {
                campaign = arguments[4].equals("latch")
                        ? new ByLatch(client, path, id, telling)
                        : new BySelector(client, path, id, telling);
            } else if (line.equals("leave") && campaign != null) {
                campaign.leave();
            }
        }
        client.close();
        System.exit(0);
    }
}
