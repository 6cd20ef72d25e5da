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
        evictor = replica(terms.leadership(), registry);
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
        reclaim("reclaim-000001", victim("a"));
        evictor.watch().start();
        evictor.start();
        await().until(cluster::isWatched);
        assertThat(cluster.stored("reclaim-000001").getStatus()).isNull();

        terms.begin();
        await().until(() -> isDone("reclaim-000001"));
        reclaim("reclaim-000002", victim("b"));
        cluster.tellOf("reclaim-000002");
        await().until(() -> isDone("reclaim-000002"));

        assertThat(evictor.isRunning()).isTrue();
        evictor.stop();
        assertThat(evictor.isRunning()).isFalse();
        assertThat(cluster.ended).containsExactly("a", "b");
    }

    @Test
    void itDoesNothingBeforeAllPlansAreListed() {
        waiter();
        cluster.pod("team-a", "a");
        reclaim("reclaim-000001", victim("a"));
        evictor.watch().onUpdate(cluster.stored("reclaim-000001"));

        evictor.round();
        assertThat(cluster.requests).isEmpty();

        evictor.watch().onListed();
        evictor.round();
        assertThat(isDone("reclaim-000001")).isTrue();
    }

    @Test
    void itFinishesThePlanAtHandWhenItIsToStop() {
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
        reclaim("reclaim-000001", victim("a"), victim("b"));
        Evictor running = evictor;
        cluster.once(
                FakeCluster.inEarnest("a"),
                request -> {
                    Thread.ofVirtual().start(running::stop);
                    await().until(() -> !running.isRunning());
                    return null;
                });

        running.watch().start();
        running.start();

        await().until(() -> isDone("reclaim-000001"));
        assertBecame("reclaim-000001", "Done", "Evicted", "Evicted");
    }
}
