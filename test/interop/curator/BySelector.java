import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.state.ConnectionState;

/** LeaderSelector, which stands on InterProcessMutex. */
final class BySelector implements Candidate.Campaign {
    private final Telling telling;
    private final LeaderSelector selector;
    private final CountDownLatch resigned = new CountDownLatch(1);

    BySelector(CuratorFramework client, String path, String id, Telling telling) {
        this.telling = telling;
        selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework leading) throws Exception {
                telling.led();
                try {
                    resigned.await();
                } finally {
                    telling.lost("over");
                }
            }

            @Override
            public void stateChanged(CuratorFramework changed, ConnectionState state) {
                if (changed.getConnectionStateErrorPolicy().isErrorState(state)) {
                    telling.lost(state.name());
                }
                super.stateChanged(changed, state);
            }
        });
        selector.setId(id);
        selector.start();
    }

    @Override
    public void leave() {
        if (telling.leads()) {
            telling.lost("resigned");
            resigned.countDown();
        } else {
            selector.close();
        }
    }
}
