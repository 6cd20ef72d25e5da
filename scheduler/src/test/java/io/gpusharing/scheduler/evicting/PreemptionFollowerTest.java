package io.gpusharing.scheduler.evicting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Leadership;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What kube-scheduler did to those whom it was told it might end. */
class PreemptionFollowerTest extends EvictingTest {

    private static final String PLAN = "preemption-x";

    @BeforeEach
    void planned() {
        waiter();
        cluster.pod("team-a", "a");
        cluster.pod("team-a", "b");
        cluster.store(
                PLAN,
                """
                {"cause": "Preemption", "node": "gpu-1", "victims": [%s, %s], "settlesAt": "%s",
                 "waiter": %s}
                """
                        .formatted(victim("a"), victim("b"), SETTLES, WAITER));
    }

    @Test
    void whoEndedByItIsPreemptedAndTheWaiterIsFollowed() {
        round();
        cluster.disrupt("team-a/a", "PreemptionByScheduler");
        roundAfter(Duration.ofSeconds(3));
        assertThat(cluster.stored(PLAN).getStatus()).as("one remains").isNull();
        cluster.remove("team-a/b");

        roundAfter(Duration.ofSeconds(6));

        assertBecame(PLAN, "Done", "Preempted", "Preempted");
        assertThat(cluster.to(it -> it.path().endsWith("/eviction"))).isEmpty();
        assertThat(events()).as("kube-scheduler writes its own").isEmpty();
        assertThat(evictions("preemption", "preempted")).isEqualTo(2);
        assertThat(registry.counter("gpusharing.evictions.cost").count()).isZero();
        cluster.bind("team-b/w", "gpu-2");
        roundAfter(Duration.ofSeconds(9));
        assertThat(status(PLAN).outcome())
                .satisfies(it ->
                        assertThat(it.detail())
                                .isEqualTo(
                                        "the waiter was bound to gpu-2, room was made on gpu-1"));
    }

    @Test
    void whereNobodyEndedInTimeItIsNotDone() {
        round();
        roundAfter(Duration.ofSeconds(119));
        assertThat(cluster.stored(PLAN).getStatus()).isNull();

        roundAfter(Duration.ofSeconds(122));

        assertBecame(PLAN, "NotDone", "Spared", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo("kube-scheduler ended none of them");
        assertThat(status(PLAN).outcome()).isNull();
    }

    @Test
    void whereSomeEndedInTimeTheOthersWereSpared() {
        cluster.disrupt("team-a/b", "PreemptionByScheduler");

        roundAfter(Duration.ofMinutes(2));

        assertBecame(PLAN, "Done", "Spared", "Preempted");
    }

    @Test
    void whoWasDrainedLaterOrEndedByItselfWasNotPreempted() {
        clock.set(TEN.plusSeconds(10));
        cluster.disrupt("team-a/a", "EvictionByEvictionAPI");
        cluster.pod("team-a", "b").withObject("status").put("phase", "Succeeded");

        round();

        assertBecame(PLAN, "NotDone", "Gone", "Gone");
    }

    @Test
    void whoWasDrainedBeforeWasNotPreempted() {
        clock.set(TEN.minusSeconds(1));
        cluster.disrupt("team-a/a", "EvictionByEvictionAPI");
        cluster.disrupt("team-a/b", "EvictionByEvictionAPI");
        cluster.disguise("team-a/b", null);

        roundAfter(Duration.ofSeconds(3));

        assertBecame(PLAN, "NotDone", "Gone", "Gone");
    }

    @Test
    void whoWasDrainedAtOnceThoughKubeSchedulerDidNotFollowThePlanWasNotPreempted() {
        clock.set(TEN.plusSeconds(1));
        cluster.disrupt("team-a/a", "EvictionByEvictionAPI");
        cluster.disrupt("team-a/b", "EvictionByEvictionAPI");
        cluster.disguise("team-a/b", null);
        cluster.nominate("team-b/w", "gpu-2");

        roundAfter(Duration.ofSeconds(3));

        assertBecame(PLAN, "NotDone", "Gone", "Gone");
    }

    @Test
    void anOwnerWhoTakesTheTraceAwayOrPutsAnotherThereHidesNoPreemption() {
        cluster.nominate("team-b/w", "gpu-1");
        clock.set(TEN.plusSeconds(1));
        cluster.disrupt("team-a/a", "PreemptionByScheduler");
        cluster.disrupt("team-a/b", "PreemptionByScheduler");
        cluster.disguise("team-a/a", null);
        cluster.disguise("team-a/b", "EvictionByEvictionAPI");

        roundAfter(Duration.ofSeconds(25));

        assertBecame(PLAN, "Done", "Preempted", "Preempted");
    }

    /** kube-scheduler asked again before it saw the first victims go. */
    @Test
    void ofTwoPlansOfOnePodTheFirstSaysThatItEnded() {
        cluster.pod("team-a", "c");
        clock.set(TEN.plusSeconds(1));
        again("preemption-again", "b", "c");
        cluster.disrupt("team-a/b", "PreemptionByScheduler");
        cluster.disrupt("team-a/c", "PreemptionByScheduler");

        roundAfter(Duration.ofSeconds(3));

        assertThat(cluster.stored(PLAN).getStatus()).as("a remains").isNull();
        assertBecame("preemption-again", "Done", "Gone", "Preempted");
        cluster.remove("team-a/a");
        cluster.remove("team-a/b");
        roundAfter(Duration.ofSeconds(6));
        assertBecame(PLAN, "Done", "Preempted", "Preempted");
        assertThat(evictions("preemption", "preempted")).isEqualTo(3);
    }

    @Test
    void aPlanThatWasTooEarlyLeavesItsVictimsToTheNext() {
        again("preemption-again", "a", "b");
        roundAfter(Duration.ofMinutes(2));
        assertBecame(PLAN, "NotDone", "Spared", "Spared");
        assertThat(cluster.stored("preemption-again").getStatus()).isNull();
        cluster.disrupt("team-a/a", "PreemptionByScheduler");
        cluster.disrupt("team-a/b", "PreemptionByScheduler");

        roundAfter(Duration.ofMinutes(2).plusSeconds(3));

        assertBecame("preemption-again", "Done", "Preempted", "Preempted");
    }

    private void again(String name, String... victims) {
        cluster.store(
                name,
                """
                {"cause": "Preemption", "node": "gpu-1", "victims": [%s, %s], "settlesAt": "%s",
                 "waiter": %s}
                """
                        .formatted(
                                victim(victims[0]),
                                victim(victims[1]),
                                SETTLES.plusSeconds(30),
                                WAITER));
    }

    @Test
    void whomReclaimEndedWasNotPreempted() {
        reclaim("reclaim-000001", victim("a"));
        round();
        assertBecame("reclaim-000001", "Done", "Evicted");
        cluster.remove("team-a/a");
        cluster.disrupt("team-a/b", "PreemptionByScheduler");

        roundAfter(Duration.ofSeconds(6));

        assertBecame(PLAN, "Done", "Gone", "Preempted");
    }

    @Test
    void whomPreemptionEndedWasNotEvictedByReclaimThatWasKilled() {
        clock.set(TEN.plusSeconds(1));
        reclaim("reclaim-000001", victim("a"));
        cluster.once(FakeCluster.inEarnest("a"), FakeCluster.away());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        assertBecame("reclaim-000001", "Planned");
        cluster.remove("team-a/a");
        cluster.remove("team-a/b");
        replica = replica(Leadership.alone(), registry);

        roundAfter(Duration.ofSeconds(10));

        assertBecame("reclaim-000001", "NotDone", "Gone");
        assertBecame(PLAN, "Done", "Preempted", "Preempted");
    }

    @Test
    void whomReclaimHasEvictedIsNoOlderPreemptionsThatKubeSchedulerDidNotFollow() {
        clock.set(TEN.plusSeconds(20));
        reclaim("reclaim-000001", victim("a"));
        cluster.once(FakeCluster.inEarnest("a"), FakeCluster.away());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        // The answer alone was lost.
        cluster.disrupt("team-a/a", "EvictionByEvictionAPI");
        replica = replica(Leadership.alone(), registry);

        roundAfter(Duration.ofSeconds(25));

        assertBecame("reclaim-000001", "Done", "Evicted");
        roundAfter(Duration.ofSeconds(122));
        assertBecame(PLAN, "NotDone", "Gone", "Spared");
    }

    @Test
    void whomAnotherPlanHasEvictedMeanwhileWasNotEvictedByReclaimAsWell() {
        cluster.pod("team-a", "c");
        reclaim("reclaim-000001", victim("c"));
        cluster.once(FakeCluster.inEarnest("c"), FakeCluster.away());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        assertBecame("reclaim-000001", "Planned");
        cluster.store(
                "memory-c",
                "{\"cause\": \"MemoryOveruse\", \"node\": \"gpu-1\", \"victims\": [%s]}"
                        .formatted(victim("c")));
        roundAfter(Duration.ofSeconds(1));
        assertBecame("memory-c", "Done", "Evicted");

        roundAfter(Duration.ofSeconds(6));

        assertBecame("reclaim-000001", "NotDone", "Gone");
        assertThat(evictions("reclaim", "evicted")).isZero();
    }

    @Test
    void ofTwoThatWereStoppedAsTheyDeletedAPodOneHasDeletedIt() {
        cluster.pod("team-a", "c");
        cluster.on(FakeCluster.eviction("c"), FakeCluster.refusal(429));
        reclaim("reclaim-000001", insisting("c"));
        cluster.once(FakeCluster.deletion("c"), FakeCluster.away());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        clock.set(TEN.plusSeconds(1));
        reclaim("reclaim-000002", insisting("c"));
        cluster.once(FakeCluster.deletion("c"), cluster.answerLost());
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        assertBecame("reclaim-000001", "Planned", "Deleted");
        assertBecame("reclaim-000002", "Planned", "Deleted");
        replica = replica(Leadership.alone(), registry);

        roundAfter(Duration.ofSeconds(10));

        assertBecame("reclaim-000001", "Done", "Deleted");
        assertBecame("reclaim-000002", "NotDone", "Gone");
    }

    @Test
    void hundredsOfThemKeepNobodyWaitingWhoIsToBeEvicted() {
        for (int i = 0; i < 120; i++) {
            cluster.store(
                    PLAN + i,
                    """
                    {"cause": "Preemption", "node": "gpu-1", "victims": [%s], "settlesAt": "%s",
                     "waiter": %s}
                    """
                            .formatted(victim("a"), SETTLES, WAITER));
        }
        round();
        reclaim("reclaim-000001", victim("b"));

        round();

        assertBecame("reclaim-000001", "Done", "Evicted");
        assertThat(cluster.to(it -> it.path().contains("/gpuevictions/preemption-")))
                .as("two goes of fifty")
                .hasSize(100);
    }
}
