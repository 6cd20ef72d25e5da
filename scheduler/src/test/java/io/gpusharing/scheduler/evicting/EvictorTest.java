package io.gpusharing.scheduler.evicting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Terms;
import org.junit.jupiter.api.Test;

/** The thread that evicts, and its watch. */
class EvictorTest extends EvictingTest {

    private boolean isDone(String name) {
        return cluster.stored(name).getStatus() != null && status(name).phase().equals("Done");
    }

    @Test
    void itCarriesOutWhatIsThereWhenItBeginsToLeadAndWhatComesLater() {
        var terms = new Terms();
        replica = replica(terms.leadership(), registry);
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
        reclaim("reclaim-000001", victim("a"));
        replica.watch().start();
        replica.evictor().start();
        await().until(cluster::isWatched);
        assertThat(cluster.stored("reclaim-000001").getStatus()).isNull();

        terms.begin();
        await().until(() -> isDone("reclaim-000001"));
        reclaim("reclaim-000002", victim("b"));
        cluster.tellOf("reclaim-000002");
        await().until(() -> isDone("reclaim-000002"));

        assertThat(replica.evictor().isRunning()).isTrue();
        replica.evictor().stop();
        assertThat(replica.evictor().isRunning()).isFalse();
        assertThat(cluster.ended).containsExactly("a", "b");
    }

    @Test
    void itDoesNothingBeforeAllPlansAreListed() {
        waiter();
        cluster.pod("team-a", "a");
        reclaim("reclaim-000001", victim("a"));
        replica.watch().onUpdate(cluster.stored("reclaim-000001"));

        replica.evictor().round();
        assertThat(cluster.requests).isEmpty();

        replica.watch().onListed();
        replica.evictor().round();
        assertThat(isDone("reclaim-000001")).isTrue();
    }

    @Test
    void hundredsThatAreAskedForKeepNobodyWaitingForTheRoom() {
        waiter();
        cluster.pod("team-a", "b");
        for (int i = 0; i < 120; i++) {
            cluster.store(
                    "memory-" + i,
                    "{\"cause\": \"MemoryOveruse\", \"node\": \"gpu-1\", \"victims\": [%s]}"
                            .formatted(victim("gone-" + i)));
        }
        round();
        assertThat(cluster.to(it -> it.path().contains("/gpuevictions/memory-")))
                .as("fifty are read and written")
                .hasSize(100);
        reclaim("reclaim-000001", victim("b"));

        round();

        assertBecame("reclaim-000001", "Done", "Evicted");
        round();
        assertThat(cluster.evictions()).allMatch(it -> it.getStatus() != null);
    }

    @Test
    void itFinishesThePlanAtHandWhenItIsToStop() {
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
        reclaim("reclaim-000001", victim("a"), victim("b"));
        Evictor running = replica.evictor();
        cluster.once(
                FakeCluster.inEarnest("a"),
                request -> {
                    Thread.ofVirtual().start(running::stop);
                    await().until(() -> !running.isRunning());
                    return null;
                });

        replica.watch().start();
        running.start();

        await().until(() -> isDone("reclaim-000001"));
        assertBecame("reclaim-000001", "Done", "Evicted", "Evicted");
    }
}
