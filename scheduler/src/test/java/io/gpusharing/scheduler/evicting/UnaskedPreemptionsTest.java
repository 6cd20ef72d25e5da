package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.uid;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.scheduler.testing.BudgetObjects;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that a scheduler preempted without having asked us: what their receipts say. */
class UnaskedPreemptionsTest extends EvictingTest {

    private static final String PLAN = "preempted-" + uid("a");

    @BeforeEach
    void running() {
        waiter();
        cluster.pod("team-a", "a").withObject("spec").put("priority", -10);
        payers.onUpdate(BudgetObjects.read(BudgetObjects.budget("team-a", -60, TEN)));
        payers.onUpdate(BudgetObjects.read(BudgetObjects.budget("team-b", 3000, TEN)));
        payers.onListed();
    }

    private void preempt(String pod) {
        cluster.disrupt("team-a/" + pod, "PreemptionByScheduler");
        preempted.onUpdate(cluster.shown("team-a/" + pod));
    }

    /** The scheduler, or somebody, says so. */
    private void isToldToBeFor(String uid) {
        cluster.told.add(
                """
                {"metadata": {"namespace": "team-a", "name": "a.1"}, "reason": "Preempted",
                 "involvedObject": {"kind": "Pod", "namespace": "team-a", "name": "a", "uid": "%s"},
                 "message": "Preempted by pod %s on node gpu-1"}
                """
                        .formatted(uid("a"), uid));
    }

    private List<String> plans() {
        return cluster.evictions().stream().map(it -> it.getMetadata().getName()).toList();
    }

    private Spec spec() {
        return cluster.stored(PLAN).getSpec();
    }

    private String why() {
        return spec().victims().getFirst().why();
    }

    @Test
    void hasOneReceiptOfForWhomWhyAndHowBothStood() {
        preempt("a");
        cluster.nominate("team-b/w", "gpu-1");
        isToldToBeFor(uid("w"));
        roundAfter(Duration.ofSeconds(9));
        assertThat(plans()).as("who asked us has a plan by then").isEmpty();
        roundAfter(Duration.ofSeconds(10));

        roundAfter(Duration.ofSeconds(11));

        assertBecame(PLAN, "Done", "Preempted");
        assertThat(spec().cause()).isEqualTo("Preemption");
        assertThat(spec().node()).isEqualTo("gpu-1");
        assertThat(spec().victims().getFirst().budget()).isEqualTo("team-a");
        assertThat(spec().victims().getFirst().standing()).isEqualTo("OverBudget");
        assertThat(Objects.requireNonNull(spec().waiter()).name()).isEqualTo("w");
        assertThat(spec().waiter().budget()).isEqualTo("team-b");
        assertThat(why())
                .isEqualTo(
                        "a kube-scheduler ended it at 2026-03-02T10:00:00Z for a pod of a higher priority than -10; its budget is OverBudget, the waiter's InBudget");
        assertThat(cluster.to(it -> it.path().endsWith("/eviction"))).isEmpty();
        assertThat(events()).as("the scheduler writes its own").isEmpty();
        cluster.bind("team-b/w", "gpu-1");
        replica = replica(Leadership.alone(), registry);
        roundAfter(Duration.ofSeconds(20));
        assertThat(Objects.requireNonNull(status(PLAN).outcome()).helped()).isTrue();
        assertThat(plans()).containsExactly(PLAN);
        assertThat(evictions("preemption", "preempted")).isEqualTo(1);
    }

    @Test
    void asksForNoMoreEventsThanTheOnesOfThatPod() {
        preempt("a");

        roundAfter(Duration.ofSeconds(10));

        assertThat(cluster.to(it -> it.path().endsWith("/events")))
                .extracting(Request::uri)
                .satisfiesExactly(uri ->
                        assertThat(uri.getQuery())
                                .contains(
                                        "involvedObject.uid=" + uid("a"),
                                        "reason=Preempted",
                                        "limit=10"));
    }

    @Test
    void anEventNamesNobodyWhomTheSchedulerDoesNotWantThere() {
        preempt("a");
        cluster.nominate("team-b/w", "gpu-2");
        cluster.pod("team-b", "before");
        cluster.pod("team-b", "lower").withObject("spec").put("priority", -10);
        cluster.nominate("team-b/lower", "gpu-1");
        cluster.bind("team-b/lower", null);
        isToldToBeFor(uid("w"));
        isToldToBeFor(uid("before"));
        isToldToBeFor(uid("lower"));
        isToldToBeFor(uid("another"));
        isToldToBeFor("../../secrets");
        roundAfter(Duration.ofSeconds(10));

        roundAfter(Duration.ofSeconds(11));

        assertBecame(PLAN, "Done", "Preempted");
        assertThat(spec().waiter()).isNull();
        assertThat(why()).endsWith("than -10, and nobody says for which; its budget is OverBudget");
    }

    @Test
    void withoutTheRightToReadEventsThereIsAReceiptAllTheSame() {
        cluster.on(it -> it.path().endsWith("/events"), FakeCluster.refusal(403));
        preempt("a");
        roundAfter(Duration.ofSeconds(10));

        roundAfter(Duration.ofSeconds(11));

        assertBecame(PLAN, "Done", "Preempted");
    }

    @Test
    void whoHadNoGraceHasAReceipt() {
        cluster.disrupt("team-a/a", "PreemptionByScheduler");
        preempted.onDelete(cluster.shown("team-a/a"));
        cluster.remove("team-a/a");
        roundAfter(Duration.ofSeconds(10));

        roundAfter(Duration.ofSeconds(11));

        assertBecame(PLAN, "Done", "Preempted");
    }

    @Test
    void whomAPlanOfOursNamesHasNoSecondReceipt() {
        cluster.store(
                "preemption-x",
                """
                {"cause": "Preemption", "node": "gpu-1", "victims": [%s], "settlesAt": "%s",
                 "waiter": %s}
                """
                        .formatted(victim("a"), SETTLES, WAITER));
        preempt("a");
        roundAfter(Duration.ofSeconds(10));

        roundAfter(Duration.ofMinutes(2));

        assertThat(plans()).containsExactly("preemption-x");
        assertBecame("preemption-x", "Done", "Preempted");
    }

    @Test
    void ofAPlanOfOursThatIsSeenTooLateOnlyOneSaysSo() {
        preempt("a");
        roundAfter(Duration.ofSeconds(10));
        roundAfter(Duration.ofSeconds(11));
        cluster.store(
                "preemption-x",
                """
                {"cause": "Preemption", "node": "gpu-1", "victims": [%s], "settlesAt": "%s",
                 "waiter": %s}
                """
                        .formatted(victim("a"), SETTLES, WAITER));

        roundAfter(Duration.ofSeconds(20));

        assertBecame(PLAN, "Done", "Preempted");
        assertBecame("preemption-x", "NotDone", "Gone");
    }

    @Test
    void whomOursDidNotEndAndAnotherDidLaterHasAReceipt() {
        cluster.store(
                "preemption-x",
                """
                {"cause": "Preemption", "node": "gpu-1", "victims": [%s], "settlesAt": "%s",
                 "waiter": %s}
                """
                        .formatted(victim("a"), SETTLES, WAITER));
        roundAfter(Duration.ofMinutes(2));
        assertBecame("preemption-x", "NotDone", "Spared");
        preempt("a");
        roundAfter(Duration.ofMinutes(2).plusSeconds(10));

        roundAfter(Duration.ofMinutes(2).plusSeconds(11));

        assertBecame(PLAN, "Done", "Preempted");
    }

    @Test
    void ofOneWhoWasKilledBeforeItIsClosedTheNextSaysWhatBecame() {
        preempt("a");
        roundAfter(Duration.ofSeconds(10));
        cluster.once(FakeCluster.writing("Done"), FakeCluster.away());
        clock.set(TEN.plusSeconds(11));
        assertThatThrownBy(this::round).isInstanceOf(KubernetesClientException.class);
        replica = replica(Leadership.alone(), registry);

        roundAfter(Duration.ofSeconds(20));

        assertThat(plans()).containsExactly(PLAN);
        assertBecame(PLAN, "Done", "Preempted");
    }

    /** An administrator deletes it, or a plan of ours that says so; another replica leads then. */
    @ParameterizedTest
    @ValueSource(strings = {"preempted-", "preemption-"})
    void whoseReceiptWasDeletedHasNoOtherByTheNextLeader(String prefix) {
        String name = prefix + uid("a");
        cluster.store(
                name,
                """
                {"cause": "Preemption", "node": "gpu-1", "victims": [%s], "settlesAt": "%s"}
                """
                        .formatted(victim("a"), SETTLES));
        GpuEviction receipt = cluster.stored(name);
        receipt.setStatus(
                new Status(
                        "Done",
                        null,
                        List.of(new Answer(uid("a"), "Preempted", null)),
                        null,
                        null,
                        null));
        preempt("a");
        replica.watch().onUpdate(receipt);
        cluster.withdraw(name);
        replica.watch().onDelete(receipt);

        roundAfter(Duration.ofSeconds(10));

        assertThat(plans()).isEmpty();
    }

    @Test
    void whoRunsOnOrWasDrainedHasNone() {
        cluster.disrupt("team-a/a", "EvictionByEvictionAPI");
        preempted.onUpdate(cluster.shown("team-a/a"));
        cluster.pod("team-a", "b")
                .withObject("status")
                .withArray("conditions")
                .addObject()
                .put("type", "DisruptionTarget")
                .put("status", "True")
                .put("reason", "PreemptionByScheduler")
                .put("lastTransitionTime", TEN.toString());
        preempted.onUpdate(cluster.shown("team-a/b"));

        roundAfter(Duration.ofMinutes(1));

        assertThat(cluster.evictions()).extracting(GpuEviction::getSpec).isEmpty();
    }
}
