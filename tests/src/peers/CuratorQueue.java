import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Keeps a queue of Apache Curator's LeaderLatches, each on a client of its own. For each line of standard input the leading
 * latch is closed. Writes "handed NANOSECONDS" once another latch leads, with the time between, and puts a new latch in the
 * place of the closed one. Writes "led" when the first latch leads. Ends when its standard input does.
 *
 * <p>Arguments: servers, path, number of latches, session timeout in milliseconds.
 */
public final class CuratorQueue {
    private static final int CONNECTION_TIMEOUT_MS = 15_000;
    private static final LinkedBlockingQueue<Long> BEGINNINGS = new LinkedBlockingQueue<>();

    private final List<CuratorFramework> clients = new ArrayList<>();
    private final List<LeaderLatch> latches = new ArrayList<>();
    private final String path;

    private CuratorQueue(String path) {
        this.path = path;
    }

    public static void main(String[] arguments) throws Exception {
        CuratorQueue queue = new CuratorQueue(arguments[1]);
        int count = Integer.parseInt(arguments[2]);
        for (int index = 0; index < count; index++) {
            CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], Integer.parseInt(arguments[3]),
                    CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(1000, 3));
            client.start();
            client.blockUntilConnected();
            queue.clients.add(client);
            queue.latches.add(queue.enter(index));
        }
        BEGINNINGS.take();
        System.out.println("led");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) {
            queue.handOver();
        }
        System.exit(0);
    }

    private LeaderLatch enter(int index) throws Exception {
        LeaderLatch latch = new LeaderLatch(clients.get(index), path, "latch-" + index);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                BEGINNINGS.add(System.nanoTime());
            }

            @Override
            public void notLeader() {}
        });
        latch.start();
        return latch;
    }

    private void handOver() throws Exception {
        int leader = 0;
        while (!latches.get(leader).hasLeadership()) {
            leader = (leader + 1) % latches.size();
        }
        long begin = System.nanoTime();
        latches.get(leader).close();
        System.out.println("handed " + (BEGINNINGS.take() - begin));
        latches.set(leader, enter(leader));
    }
}
