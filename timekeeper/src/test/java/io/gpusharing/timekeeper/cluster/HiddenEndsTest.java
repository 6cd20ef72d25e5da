package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Pods whose owners would gain if another end than the pod's own counted. */
class HiddenEndsTest {

    private static final Instant BOUND = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant WRITTEN = Instant.parse("2026-03-30T10:00:00Z");

    @Test
    void theEndOfAnInitContainerDoesNotHideAContainerThatWaitsToRunAgain() {
        PodFacts pod =
                pod(
                        "Failed",
                        "",
                        """
                        {"name":"cuda","state":{"waiting":{"reason":"CrashLoopBackOff"}},
                         "lastState":{"terminated":{"finishedAt":"2026-03-30T09:58:00Z"}}}
                        """,
                        """
                        {"name":"first","state":{"terminated":{"finishedAt":"2026-03-01T10:00:01Z"}}}
                        """);

        assertThat(AllocationInterval.of(pod, WRITTEN))
                .isEqualTo(new AllocationInterval.Ended(BOUND, WRITTEN, true));
    }

    @Test
    void aContainerWhoseStatusTheKubeletLostHasNoEnd() {
        PodFacts pod =
                pod(
                        "Failed",
                        "",
                        """
                        {"name":"cuda","state":{"terminated":{"reason":"ContainerStatusUnknown","finishedAt":null}}}
                        """,
                        """
                        {"name":"first","state":{"terminated":{"finishedAt":"2026-03-01T10:00:01Z"}}}
                        """);

        assertThat(AllocationInterval.of(pod, WRITTEN))
                .isEqualTo(new AllocationInterval.Ended(BOUND, WRITTEN, true));
    }

    @Test
    void aDisruptionThatAnEvictionNotedIsNoEnd() {
        PodFacts pod =
                pod(
                        "Failed",
                        """
                        ,{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI",
                          "lastTransitionTime":"2026-03-01T10:00:02Z"},
                         {"type":"Ready","status":"False","lastTransitionTime":"2026-03-01T10:00:02Z"}
                        """,
                        """
                        {"name":"cuda","state":{"waiting":{"reason":"ContainerCreating"}}}
                        """,
                        "");

        assertThat(AllocationInterval.of(pod, WRITTEN))
                .isEqualTo(new AllocationInterval.Ended(BOUND, WRITTEN, true));
    }

    @Test
    void aMeterThatWasStoppedHoldsTheGpusAtThePodsCost() {
        PodFacts pod =
                pod(
                        "Succeeded",
                        "",
                        """
                        {"name":"cuda","state":{"terminated":{"finishedAt":"2026-03-01T10:00:05Z"}}}
                        """,
                        """
                        {"name":"gpusharing-sidecar","state":{"terminated":{"finishedAt":"2026-03-30T09:59:59Z"}}}
                        """);

        assertThat(AllocationInterval.of(pod, WRITTEN))
                .isEqualTo(
                        new AllocationInterval.Ended(
                                BOUND, Instant.parse("2026-03-30T09:59:59Z"), false));
    }

    @Test
    void aContainerIsNotTheMeterBecauseAnAnnotationSaysSo() {
        PodFacts pod =
                pod(
                        "Succeeded",
                        "",
                        """
                        {"name":"first","state":{"terminated":{"finishedAt":"2026-03-01T10:00:50Z"}}}
                        """,
                        """
                        {"name":"gpusharing-sidecar","state":{"terminated":{"finishedAt":"2026-03-01T10:00:01Z"}}}
                        """,
                        "first");

        assertThat(AllocationInterval.of(pod, WRITTEN))
                .isEqualTo(new AllocationInterval.Ended(BOUND, BOUND.plusSeconds(50), false));
    }

    @Test
    void aPodWithoutManagedFieldsEndsWhenItIsObserved() {
        PodFacts pod =
                read(
                        """
                        {"metadata":{"name":"a","namespace":"team-a","uid":"00000000-0000-4000-8000-000000000001",
                          "creationTimestamp":"2026-03-01T09:59:59Z","managedFields":[{}]},
                         "spec":{"nodeName":"node-1","containers":[{"name":"cuda"}]},
                         "status":{"phase":"Failed","startTime":"2026-03-01T10:00:00Z",
                          "conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-01T10:00:00Z"},
                            {"type":"Ready","status":"False","lastTransitionTime":"2026-03-01T10:00:00Z"}]}}
                        """);

        assertThat(AllocationInterval.of(pod, WRITTEN))
                .isEqualTo(new AllocationInterval.Ended(BOUND, WRITTEN, true));
    }

    private static PodFacts pod(String phase, String conditions, String container, String init) {
        return pod(phase, conditions, container, init, "gpusharing-sidecar");
    }

    private static PodFacts pod(
            String phase, String conditions, String container, String init, String meter) {
        return read(
                """
                {"metadata":{"name":"a","namespace":"team-a","uid":"00000000-0000-4000-8000-000000000001",
                  "creationTimestamp":"2026-03-01T09:59:59Z","annotations":{"gpusharing.io/sidecar":"%s"},
                  "managedFields":[{"manager":"kubelet","operation":"Update","subresource":"status",
                    "time":"2026-03-30T10:00:00Z","fieldsV1":{"f:status":{}}}]},
                 "spec":{"nodeName":"node-1","containers":[{"name":"cuda"}],
                  "initContainers":[{"name":"gpusharing-sidecar","restartPolicy":"Always"},{"name":"first"}]},
                 "status":{"phase":"%s","startTime":"2026-03-01T10:00:00Z",
                  "conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-01T10:00:00Z"} %s],
                  "containerStatuses":[%s],"initContainerStatuses":[%s]}}
                """
                        .formatted(meter, phase, conditions, container, init));
    }

    private static PodFacts read(String pod) {
        return new PodReader(name -> name.startsWith("tencent.com/"))
                .read(LeanObjects.serialization().unmarshal(pod, Pod.class));
    }
}
