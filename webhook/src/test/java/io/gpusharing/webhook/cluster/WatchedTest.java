package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.webhook.testing.FakeApiServer;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class WatchedTest {

    private static final int NODES = 1_000;

    private final AtomicInteger readings = new AtomicInteger();
    private final CountDownLatch allThere = new CountDownLatch(1);

    @Test
    void aThousandNodesThatWereListedAreReadOnce() {
        try (FakeApiServer api = new FakeApiServer();
                KubernetesClient client = api.client()) {
            for (int i = 0; i < NODES; i++) {
                putNode(api, i);
            }
            try (var watched = new Watched<Node, Integer>("nodes", client.nodes(), this::read, 0)) {
                watched.start();
                await().until(() -> readings.get() > 0);
                allThere.countDown();
                await().until(() -> watched.value() == NODES);
                putNode(api, NODES);
                await().until(() -> watched.value() == NODES + 1);
            }
        }

        assertThat(readings).as("once when all were listed, once for the one after").hasValue(2);
    }

    @Test
    void theLastChangeIsRead() {
        try (FakeApiServer api = new FakeApiServer();
                KubernetesClient client = api.client();
                var watched = new Watched<Node, Integer>("nodes", client.nodes(), this::read, 0)) {
            allThere.countDown();
            watched.start();
            await().until(watched.informer()::hasSynced);
            for (int i = 0; i < 20; i++) {
                putNode(api, i);
            }

            await().until(() -> watched.value() == 20);
        }
    }

    /** A replica that is ready before it has read answers as if nothing existed. */
    @Test
    void aSyncedWatchHasReadItsObjects() {
        try (FakeApiServer api = new FakeApiServer();
                KubernetesClient client = api.client()) {
            putNode(api, 1);
            allThere.countDown();
            for (int i = 0; i < 20; i++) {
                try (var watched =
                        new Watched<Node, Integer>("nodes", client.nodes(), this::readSlowly, 0)) {
                    watched.start();
                    await().pollInterval(Duration.ofMillis(1)).until(watched.informer()::hasSynced);

                    assertThat(watched.value()).isEqualTo(1);
                }
            }
        }
    }

    private int readSlowly(Collection<Node> nodes) {
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        return nodes.size();
    }

    private static void putNode(FakeApiServer api, int number) {
        api.put(
                "/api/v1/nodes/node-" + number,
                """
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-%d"}}
                """
                        .formatted(number));
    }

    private int read(Collection<Node> nodes) {
        readings.incrementAndGet();
        try {
            allThere.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return nodes.size();
    }
}
