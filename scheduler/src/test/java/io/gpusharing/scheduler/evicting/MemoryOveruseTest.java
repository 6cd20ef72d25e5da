package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.away;
import static io.gpusharing.scheduler.evicting.FakeCluster.eviction;
import static io.gpusharing.scheduler.evicting.FakeCluster.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Pods that hold more GPU memory than they were given, and that the timekeeper asks for. */
class MemoryOveruseTest extends EvictingTest {

    private static final String PLAN = "memory-train-1772445600";

    private ObjectNode pod;

    @BeforeEach
    void asked() {
        pod = cluster.pod("team-a", "train");
        cluster.store(
                PLAN,
                """
                {"cause": "MemoryOveruse", "node": "gpu-1", "victims": [
                  {"namespace": "team-a", "name": "train", "uid": "%s", "node": "gpu-1",
                   "why": "held 9100 MiB of GPU-1 and was given 7680, at least since 2026-03-02T10:00:00Z"}]}
                """
                        .formatted(FakeCluster.uid("train")));
    }

    private List<String> evictions() {
        return cluster.to(eviction("train").and(it -> !it.body().contains("dryRun"))).stream()
                .map(Request::body)
                .toList();
    }

    private void stays(String reason) {
        round();

        assertThat(evictions()).isEmpty();
        assertBecame(PLAN, "NotDone", "Spared");
        assertThat(status(PLAN).reason()).isEqualTo("team-a/train " + reason);
    }

    @Test
    void itIsEvictedAndToldWhy() {
        pod.withObject("spec").put("terminationGracePeriodSeconds", 3600);

        round();

        assertThat(evictions())
                .singleElement()
                .asString()
                .contains(FakeCluster.uid("train"), "\"gracePeriodSeconds\":60");
        assertThat(events())
                .singleElement()
                .asString()
                .contains(
                        "GpuMemoryExceeded",
                        "Evicted, because it held 9100 MiB of GPU-1 and was given 7680, at least since 2026-03-02T10:00:00Z. Ask for more memory");
        assertBecame(PLAN, "Done", "Evicted");
        assertThat(evictions("memory_overuse", "evicted")).isEqualTo(1);
        roundAfter(Duration.ofMinutes(2));
        assertThat(evictions()).as("not asked for again").hasSize(1);
    }

    /** Whoever may write a pod's status may leave it without one. */
    @Test
    void aPodWithoutAPhaseHasNotEnded() {
        pod.set("status", pod.objectNode());

        round();

        assertBecame(PLAN, "Done", "Evicted");
    }

    @Test
    void aPodThatHasEndedIsGone() {
        pod.withObject("status").put("phase", "Succeeded");

        round();

        assertBecame(PLAN, "NotDone", "Gone");
        assertThat(evictions()).isEmpty();
    }

    @Test
    void whomADisruptionBudgetKeepsIsAskedForEachMinute() {
        cluster.on(eviction("train"), refusal(429));
        round();
        roundAfter(Duration.ofSeconds(59));
        assertThat(cluster.to(eviction("train"))).hasSize(1);
        assertBecame(PLAN, "Refused", "Refused");

        roundAfter(Duration.ofMinutes(1));

        assertThat(cluster.to(eviction("train"))).hasSize(2);
        assertThat(status(PLAN).refusedSince()).isEqualTo("2026-03-02T10:00:00Z");
        cluster.asUsual();
        roundAfter(Duration.ofMinutes(2));
        assertBecame(PLAN, "Done", "Evicted");
        assertThat(status(PLAN).plannedAt()).isEqualTo("2026-03-02T10:02:00Z");
        assertThat(status(PLAN).refusedSince()).isEqualTo("2026-03-02T10:00:00Z");
        assertThat(evictions("memory_overuse", "refused")).isEqualTo(2);
    }

    @Test
    void whoGivesItBackWhileItIsRefusedIsNotAskedForAnyMore() {
        cluster.on(eviction("train"), refusal(429));
        round();
        cluster.asUsual();
        cluster.withdraw(PLAN);

        roundAfter(Duration.ofMinutes(2));

        assertThat(cluster.ended).isEmpty();
    }

    @Test
    void whereTheApiServerAnswersSomethingElseNobodyWasEvicted() {
        cluster.on(eviction("train"), refusal(500));

        round();

        assertBecame(PLAN, "Refused", "Refused");
        assertThat(status(PLAN).victims())
                .extracting(Answer::detail)
                .allMatch(it -> it != null && it.contains("no"));
    }

    @Test
    void whereNoAnswerComesNothingIsRecorded() {
        cluster.on(eviction("train"), away());

        assertThatThrownBy(this::round).isInstanceOf(RuntimeException.class);

        assertThat(cluster.stored(PLAN).getStatus()).isNull();
    }

    @Test
    void softwareOfTheClusterItselfStays() {
        pod.withObject("spec").put("priority", 2_000_001_000);

        stays("has a priority of the cluster itself");
    }

    @Test
    void anAgentIsBelievedAboutPodsOfItsOwnNodeOnly() {
        cluster.bind("team-a/train", "gpu-2");

        stays("is not on gpu-1");
    }

    @Test
    void aPodThatAskedForNoGpuWasGivenNothing() {
        pod.withObject("metadata").set("labels", pod.objectNode());

        stays("was given no GPU");
    }

    @Test
    void whomAnAdministratorHasExemptedStaysUntilThatEnds() {
        var annotations = pod.withObject("metadata").withObject("annotations");
        annotations.put("gpusharing.io/do-not-reclaim", "true");

        round();
        assertThat(evictions()).isEmpty();
        assertThat(cluster.stored(PLAN).getStatus()).isNull();

        annotations.remove("gpusharing.io/do-not-reclaim");
        roundAfter(Duration.ofMinutes(1));
        assertBecame(PLAN, "Done", "Evicted");
    }

    @Test
    void wholeNamespacesAreExemptedToo() {
        cluster.exempt("team-a");

        round();

        assertThat(evictions()).isEmpty();
        assertThat(cluster.stored(PLAN).getStatus()).isNull();
    }
}
