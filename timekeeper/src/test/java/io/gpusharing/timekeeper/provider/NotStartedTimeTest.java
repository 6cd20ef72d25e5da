package io.gpusharing.timekeeper.provider;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NotStartedTimeTest {

    static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Instant LATER = TEN.plus(Duration.ofHours(2));

    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN.plusSeconds(10));

    /** Of a pod that is on the node of all tests, or not. */
    static RefusedStart of(UUID pod, Instant since, @Nullable Instant until) {
        return new RefusedStart(
                Pods.NODE, pod, "team-a", "train", since, until, false, false, "No GPU has room");
    }

    /** A node that says this. */
    static GpuNode node(String name, GpuNodeStatus.Refused... refused) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(name).build());
        node.setStatus(new GpuNodeStatus(null, null, List.of(refused)));
        return node;
    }

    private PodAllocation allocation() {
        ledger.onUpdate(pod);
        return ledger.allocation(pod);
    }

    private PodAllocation endedAt(Instant end) {
        ledger.onUpdate(pod);
        ledger.clock.set(LATER);
        ledger.onUpdate(pod.finishedAt(end));
        return ledger.allocation(pod);
    }

    @Test
    void partsOfASecondAreThePods() {
        RefusedStart start = of(pod.uid(), TEN.plusMillis(20_001), TEN.plusMillis(80_999));

        assertThat(NotStartedTime.of(start, allocation(), LATER))
                .contains(new NotStartedTime(TEN.plusSeconds(21), TEN.plusSeconds(80)));
    }

    @Test
    void whileItWaitsNothingIsKnown() {
        assertThat(NotStartedTime.of(of(pod.uid(), TEN.plusSeconds(20), null), allocation(), LATER))
                .isEmpty();
    }

    @Test
    void thePodsEndEndsItToo() {
        RefusedStart start = of(pod.uid(), TEN.plusSeconds(20), null);

        assertThat(NotStartedTime.of(start, endedAt(TEN.plusSeconds(60)), LATER))
                .contains(new NotStartedTime(TEN.plusSeconds(20), TEN.plusSeconds(60)));
    }

    @Test
    void aNodesClockThatIsWrongReachesBeyondNeitherBeginNorEnd() {
        RefusedStart start =
                of(pod.uid(), TEN.minus(Duration.ofDays(1)), TEN.plus(Duration.ofDays(1)));

        assertThat(NotStartedTime.of(start, endedAt(TEN.plusSeconds(60)), LATER))
                .contains(new NotStartedTime(TEN.plusSeconds(10), TEN.plusSeconds(60)));
    }

    @Test
    void nothingIsCorrectedBeforeItHappens() {
        RefusedStart start = of(pod.uid(), TEN.plusSeconds(20), TEN.plus(Duration.ofDays(1)));

        assertThat(NotStartedTime.of(start, allocation(), LATER)).isEmpty();
    }

    @Test
    void aRefusalAfterThePodsEndIsNoTime() {
        RefusedStart start = of(pod.uid(), TEN.plusSeconds(70), TEN.plusSeconds(90));

        assertThat(NotStartedTime.of(start, endedAt(TEN.plusSeconds(60)), LATER))
                .hasValueSatisfying(span -> assertThat(span.isEmpty()).isTrue());
    }
}
