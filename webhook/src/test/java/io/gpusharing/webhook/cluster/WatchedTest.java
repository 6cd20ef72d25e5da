package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.webhook.testing.FakeApiServer;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class WatchedTest {

    private static final int NODES = 1_000;

    /** Number of a node that cannot be read. */
    private static final int ODD = 7_777;

    private final AtomicInteger readings = new AtomicInteger();
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final CountDownLatch allThere = new CountDownLatch(1);

    @Test
    void aThousandNodesThatWereListedAreReadOnce() {
        try (FakeApiServer api = new FakeApiServer();
                KubernetesClient client = api.client()) {
            for (int i = 0; i < NODES; i++) {
                putNode(api, i);
            }
            try (var watched = watched(client, this::read)) {
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
                var watched = watched(client, this::read)) {
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
                try (var watched = watched(client, this::readSlowly)) {
                    watched.start();
                    await().pollInterval(Duration.ofMillis(1)).until(watched.informer()::hasSynced);

                    assertThat(watched.value()).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void anObjectThatCannotBeReadAnyMoreIsLeftOutAndNoOtherIs() {
        try (FakeApiServer api = new FakeApiServer();
                KubernetesClient client = api.client();
                var watched = watched(client, this::read)) {
            allThere.countDown();
            putNode(api, 1);
            putNode(api, ODD);
            watched.start();
            await().until(watched.informer()::hasSynced);
            assertThat(watched.value()).isEqualTo(1);

            putNode(api, 2);
            await().until(() -> watched.value() == 2);
            assertThat(unreadable.present())
                    .extracting(Unreadable::kind, Unreadable::name)
                    .containsExactly(tuple("Node", "node-" + ODD));

            api.delete("/api/v1/nodes/node-" + ODD);
            await().until(() -> unreadable.present().isEmpty());
        }
    }

    private Watched<Node, String, Integer> watched(
            KubernetesClient client, Function<Collection<String>, Integer> computing) {
        return new Watched<>("nodes", client.nodes(), unreadable, WatchedTest::name, computing, 0);
    }

    private static String name(Node node) {
        String name = node.getMetadata().getName();
        if (name.endsWith("-" + ODD)) {
            throw new IllegalArgumentException("cannot read this");
        }
        return name;
    }

    private int readSlowly(Collection<String> nodes) {
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

    private int read(Collection<String> nodes) {
        readings.incrementAndGet();
        try {
            allThere.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return nodes.size();
    }
}
