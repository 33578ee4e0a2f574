import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Contends with Apache Curator's LeaderLatch, which gives up leadership by itself when the connection is suspended or lost
 * (the default error policy). Asks it every millisecond and writes each change to standard output: "leads NANOSECONDS"
 * with the first time of leadership, "led NANOSECONDS" with the last. Ends when its standard input does.
 *
 * <p>Arguments: servers, path, id, session timeout in milliseconds.
 */
public final class CuratorContender {
    public static void main(String[] arguments) throws Exception {
        int session = Integer.parseInt(arguments[3]);
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                arguments[0], session, CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(1000, 3));
        client.start();
        LeaderLatch latch = new LeaderLatch(client, arguments[1], arguments[2]);
        latch.start();
        Thread watch = new Thread(() -> watch(latch));
        watch.setDaemon(true);
        watch.start();
        while (System.in.read() >= 0) {}
        System.exit(0);
    }

    /** Curator's own default. */
    private static final int CONNECTION_TIMEOUT_MS = 15_000;

    private static void watch(LeaderLatch latch) {
        boolean led = false;
        long last = 0;
        while (true) {
            long before = System.nanoTime();
            boolean leads = latch.hasLeadership();
            long after = System.nanoTime();
            if (leads != led) {
                System.out.println(leads ? "leads " + after : "led " + last);
            }
            if (leads) {
                last = before;
            }
            led = leads;
            try {
                Thread.sleep(1);
            } catch (InterruptedException end) {
                return;
            }
        }
    }
}
