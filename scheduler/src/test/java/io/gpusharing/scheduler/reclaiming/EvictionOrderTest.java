package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.reclaiming.Cluster.NOON;
import static io.gpusharing.scheduler.reclaiming.Cluster.pod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.tuple;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.kubernetes.GpuEviction.Candidate;
import io.gpusharing.kubernetes.GpuEviction.Considered;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What an order says of those who could have gone instead, however many they are. */
class EvictionOrderTest {

    private static final Duration A_MINUTE = Duration.ofMinutes(1);

    private final Cluster cluster =
            new Cluster()
                    .node("n1")
                    .node("n2")
                    .within("team-b")
                    .over("team-a", 5)
                    .runs(pod("team-a", "old").gpus(1).on("n1", 0))
                    .runs(pod("team-a", "new").gpus(1).age(Duration.ofMinutes(20)).on("n1", 1))
                    .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

    private Considered considered() {
        var plan = (Evict) cluster.decide();
        return Objects.requireNonNull(
                new EvictionOrder(cluster.snapshot())
                        .of("reclaim-000001", plan, NOON)
                        .getSpec()
                        .considered());
    }

    @Test
    void othersAreCountedByWhyTheyStayAndTheVictimIsNoneOfThem() {
        cluster.runs(pod("team-b", "own").gpus(1).on("n2", 0))
                .runs(pod("team-a", "young").gpus(1).age(A_MINUTE).on("n2", 1));

        assertThat(considered().spared())
                .containsOnly(
                        entry("it could go, but the waiter fits without that", 1),
                        entry("its budget is InBudget", 1),
                        entry("its minimum run time is not over", 1));
    }

    @Test
    void whoCouldHaveGoneAsWellIsNearest() {
        cluster.runs(pod("team-b", "own").gpus(1).on("n2", 0))
                .runs(pod("team-a", "young").gpus(1).age(A_MINUTE).on("n2", 1));

        assertThat(considered().nearest())
                .extracting(Candidate::name, Candidate::node, Candidate::spared)
                .containsExactly(
                        tuple("old", "n1", null),
                        tuple("own", "n2", "its budget is InBudget"),
                        tuple("young", "n2", "its minimum run time is not over"));
    }

    /** Each has a run time of its own, and they are still one count. */
    @Test
    void ofManyTenAreNamedAndAllAreCounted() {
        for (int i = 0; i < 40; i++) {
            cluster.runs(
                    pod("team-a", "young-" + i)
                            .share(5, 0)
                            .age(Duration.ofSeconds(i))
                            .on("n2", i % 2));
        }

        assertThat(considered().spared()).containsEntry("its minimum run time is not over", 40);
        assertThat(considered().nearest())
                .hasSize(10)
                .first()
                .satisfies(it -> assertThat(it.name()).isEqualTo("old"));
    }

    /** Where a budget only lowers, it is read again before anybody goes. */
    @Test
    void ofAVictimItSaysWhetherItWasAdmittedOverBudget() {
        Cluster lowers =
                new Cluster()
                        .node("n1")
                        .within("team-b")
                        .budget("team-a", Cluster.overrun(5), OnExhausted.LowerPriority, false)
                        .runs(pod("team-a", "before").gpus(1).on("n1", 0))
                        .runs(pod("team-a", "after").gpus(1).lowered().on("n1", 1))
                        .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

        assertThat(
                        new EvictionOrder(lowers.snapshot())
                                .of("reclaim-000001", (Evict) lowers.decide(), NOON)
                                .getSpec()
                                .victims())
                .singleElement()
                .satisfies(victim -> {
                    assertThat(victim.name()).isEqualTo("after");
                    assertThat(victim.lowered()).isTrue();
                });
    }

    @Test
    void whatNamesOtherPodsIsCountedWithoutTheNames() {
        cluster.runs(pod("team-a", "one").gpus(1).gang("job").on("n2", 0))
                .runs(
                        pod("team-a", "two")
                                .gpus(1)
                                .gang("job")
                                .age(Duration.ofMinutes(30))
                                .exempt("an administrator says so")
                                .on("n2", 1));

        assertThat(considered().spared())
                .containsEntry("goes only together with another, which stays", 1);
    }
}
