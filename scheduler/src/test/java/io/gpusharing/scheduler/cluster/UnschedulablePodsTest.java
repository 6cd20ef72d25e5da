package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods as our own client reads them. */
class UnschedulablePodsTest {

    private static final Instant SINCE = Instant.parse("2026-03-02T10:00:00Z");

    private static final String WAITING =
            """
            {"metadata": {"name": "w", "namespace": "team-a", "uid": "1", "labels": {"gpusharing.io/metered": "true"}},
             "spec": {"priority": 0},
             "status": {"phase": "Pending", "conditions": [
               {"type": "Initialized", "status": "True", "lastTransitionTime": "2026-03-02T09:00:00Z"},
               {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T10:00:00Z"}]}}
            """;

    private final UnschedulablePods pods = new UnschedulablePods();

    private void see(String pod) {
        pods.see(LeanObjects.serialization().unmarshal(pod, Pod.class));
    }

    @Test
    void aPodWaitsSinceItsSchedulerSaysSo() {
        see(WAITING);

        assertThat(pods.anySince(SINCE)).isTrue();
        assertThat(pods.anySince(SINCE.minusSeconds(1))).isFalse();
    }

    @Test
    void whoIsGoneWaitsNoMore() {
        see(WAITING);

        pods.forget("1");

        assertThat(pods.anySince(SINCE)).isFalse();
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
                    being deleted  | "uid": "1"               | "uid": "1", "deletionTimestamp": "2026-03-02T10:05:00Z"
                    without label  | "gpusharing.io/metered"  | "gpusharing.io/other"
                    """)
    void whoDoesNotWaitForRoomIsNoReasonToLookForSome(String what, String usual, String odd) {
        see(WAITING);

        see(WAITING.replace(usual, odd));

        assertThat(pods.anySince(SINCE)).isFalse();
    }
}
