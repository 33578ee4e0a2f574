import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * One of Apache Curator's LeaderLatches. Writes "leads NANOSECONDS" when it begins to lead. For each line of standard input it
 * writes "ends NANOSECONDS", closes the latch, and starts another. Ends when its standard input does.
 *
 * <p>Arguments: servers, path, id, session timeout in milliseconds.
 */
public final class CuratorMember {
    private static final int CONNECTION_TIMEOUT_MS = 15_000;

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], Integer.parseInt(arguments[3]),
                CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(1000, 3));
        client.start();
        LeaderLatch latch = enter(client, arguments);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) {
            System.out.println("ends " + System.nanoTime());
            latch.close();
            latch = enter(client, arguments);
        }
        System.exit(0);
    }

    private static LeaderLatch enter(CuratorFramework client, String[] arguments) throws Exception {
        LeaderLatch latch = new LeaderLatch(client, arguments[1], arguments[2]);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                System.out.println("leads " + System.nanoTime());
            }

            @Override
            public void notLeader() {}
        });
        latch.start();
        return latch;
    }
}
