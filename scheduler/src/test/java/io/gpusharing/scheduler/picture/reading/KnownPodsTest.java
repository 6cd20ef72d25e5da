package io.gpusharing.scheduler.picture.reading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.Reach;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.sharing.ProviderAsk;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods as our own client reads them. */
class KnownPodsTest {

    private static final Instant SINCE = Instant.parse("2026-03-02T10:00:00Z");

    private static final String WAITING =
            """
            {"metadata": {"name": "w", "namespace": "team-a", "creationTimestamp": "2026-03-02T09:00:00Z", "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10", "labels": {"gpusharing.io/metered": "true"}},
             "spec": {"priority": 0},
             "status": {"phase": "Pending", "conditions": [
               {"type": "Initialized", "status": "True", "lastTransitionTime": "2026-03-02T09:00:00Z"},
               {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T10:00:00Z"}]}}
            """;

    private static final RequestGrammars VCUDA = new RequestGrammars(List.of(new VcudaGrammar()));

    private final KnownPods pods =
            new KnownPods(
                    VCUDA,
                    new CapacityReader(VCUDA, new ProviderAsk(Map.of()), PodSharing.NONE),
                    Gangs.OF_JOBS,
                    new SchedulerReach(true, new SchedulerName("gpusharing-scheduler")),
                    -100);

    private static Pod pod(String pod) {
        return LeanObjects.serialization().unmarshal(pod, Pod.class);
    }

    private void see(String pod) {
        pods.onUpdate(pod(pod));
    }

    @Test
    void aPodWaitsSinceItsSchedulerSaysSo() {
        see(WAITING);

        assertThat(pods.anyWaitsSince(SINCE)).isTrue();
        assertThat(pods.anyWaitsSince(SINCE.minusSeconds(1))).isFalse();
    }

    @Test
    void whoIsGoneWaitsNoMore() {
        see(WAITING);

        pods.onDelete(pod(WAITING));

        assertThat(pods.anyWaitsSince(SINCE)).isFalse();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    bound          | "priority": 0            | "nodeName": "n1"
                    gated          | "priority": 0            | "schedulingGates": [{"name": "later"}]
                    preempts       | "phase": "Pending"       | "phase": "Pending", "nominatedNodeName": "n1"
                    not tried      | "reason": "Unschedulable" | "reason": "SchedulerError"
                    being deleted  | "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10"               | "uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10", "deletionTimestamp": "2026-03-02T10:05:00Z"
                    without label  | "gpusharing.io/metered"  | "gpusharing.io/other"
                    """)
    void whoDoesNotWaitForRoomIsNoReasonToLookForSome(String what, String usual, String odd) {
        see(WAITING);

        see(WAITING.replace(usual, odd));

        assertThat(pods.anyWaitsSince(SINCE)).isFalse();
    }

    /** Both are admission's; a class that the user chose above it says that it was not lowered. */
    @ParameterizedTest
    @CsvSource({
        "OverBudget, -100, true",
        "OverBudget, -500, true",
        "OverBudget, 0, false",
        "InBudget, -100, false"
    })
    void whoWasAdmittedOverBudgetWithTheClassOfThatIsLowered(
            String standing, int priority, boolean lowered) {
        see(
                WAITING.replace(
                                "\"labels\"",
                                "\"annotations\": {\"gpusharing.io/standing\": \"%s\"}, \"labels\""
                                        .formatted(standing))
                        .replace(
                                "\"priority\": 0",
                                "\"nodeName\": \"n1\", \"priority\": " + priority));

        assertThat(pods.all())
                .singleElement()
                .satisfies(it ->
                        assertThat(Objects.requireNonNull(it.holder()).lowered())
                                .isEqualTo(lowered));
    }

    /** As a copy by kubectl debug has it, too. */
    @ParameterizedTest
    @CsvSource({
        "gpusharing-scheduler, tencent.com/vcuda-core, Shared",
        "default-scheduler, tencent.com/vcuda-core, BySums",
        "volcano, tencent.com/vcuda-core, NotShared",
        "gpusharing-scheduler, nvidia.com/gpu, Everywhere"
    })
    void whereAPodMayBePlacedSaysTheSchedulerThatItNames(
            String scheduler, String resource, Reach reach) {
        see(
                WAITING.replace(
                        "\"priority\": 0",
                        "\"schedulerName\": \"%s\", \"containers\": [{\"name\": \"c\", \"resources\": {\"limits\": {\"%s\": \"50\"}}}]"
                                .formatted(scheduler, resource)));

        assertThat(Objects.requireNonNull(pods.all().iterator().next().waiter()).reach())
                .isEqualTo(reach);
    }

    private Holder present(String pod) {
        pods.onUpdate(pod(pod));
        return Objects.requireNonNull(pods.all().iterator().next().holder())
                .at(
                        NodeFacts.UNKNOWN,
                        VCUDA,
                        false,
                        Set.of(),
                        new Ending(SINCE, SINCE.plusSeconds(60)));
    }

    private static String running(String more) {
        return """
        {"metadata": {"name": "r", "namespace": "team-a", "uid": "1c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
           "creationTimestamp": "2026-03-02T09:00:00Z", "labels": {"gpusharing.io/metered": "true"},
           "annotations": {%s "tencent.com/predicate-gpu-idx-0": "1", "a": "b"}},
         "spec": {"nodeName": "n1", "nodeSelector": {"zone": "a"}, "tolerations": [{"operator": "Exists"}],
           "containers": [{"name": "c", "resources": {"limits": {"tencent.com/vcuda-core": "30"}}}]},
         "status": {"phase": "Running", "conditions": [
           {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-02T09:30:00Z"}]}}
        """
                .formatted(more);
    }

    @Test
    void whatDecidesWhetherABoundPodGoesIsReadOfIt() {
        Holder holder = present(running(""));

        assertThat(holder.since()).isEqualTo(Instant.parse("2026-03-02T09:30:00Z"));
        assertThat(holder.share()).isEqualTo(300_000);
        assertThat(Objects.requireNonNull(holder.hold().gpus()))
                .extracting("gpu")
                .containsExactly("1");
        assertThat(holder.exemption()).isNull();
        assertThat(present(running("\"gpusharing.io/do-not-reclaim\": \"true\",")).exemption())
                .contains("do-not-reclaim");
    }

    @Test
    void whereABoundPodMightHaveRunIsNotKept() {
        assertThat(pod(running("")).getSpec().getTolerations()).isEmpty();
        assertThat(pod(running("")).getSpec().getNodeSelector()).isEmpty();
    }

    @Test
    void aBoundPodThatCannotBeReadFillsItsNodeUntilItCan() {
        String odd = running("").replace("\"30\"", "\"--\"");

        assertThatThrownBy(() -> see(odd)).isInstanceOf(RuntimeException.class);

        assertThat(pods.all())
                .singleElement()
                .satisfies(it ->
                        assertThat(Objects.requireNonNull(it.holder()).exemption())
                                .isEqualTo("it cannot be read"));
        assertThat(present(running("")).exemption()).isNull();
    }

    @Test
    void aWaitingPodThatCannotBeReadWaitsForNothing() {
        see(WAITING);

        assertThatThrownBy(() -> see(WAITING.replace("2026-03-02T10:00:00Z", "soon")))
                .isInstanceOf(RuntimeException.class);

        assertThat(pods.anyWaitsSince(SINCE)).isFalse();
        assertThat(pods.all()).isEmpty();
    }
}
