import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;

/** LeaderLatch, whose znodes have another word before their number. */
final class ByLatch implements Candidate.Campaign {
    private final Telling telling;
    private final LeaderLatch latch;

    ByLatch(CuratorFramework client, String path, String id, Telling telling) throws Exception {
        this.telling = telling;
        latch = new LeaderLatch(client, path, id);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                telling.led();
            }

            @Override
            public void notLeader() {
                telling.lost("not leader");
            }
        });
        latch.start();
    }

    @Override
    public void leave() throws Exception {
        telling.lost("resigned");
        latch.close();
    }
}
