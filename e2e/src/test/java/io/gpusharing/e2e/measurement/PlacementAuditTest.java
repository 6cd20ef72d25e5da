package io.gpusharing.e2e.measurement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.e2e.measurement.PlacementAudit.Outage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A judge that never finds anything would be worth nothing. */
class PlacementAuditTest {

    private static final Instant BEGIN = Instant.parse("2026-11-26T10:00:00Z");

    private final List<String> log = new ArrayList<>();
    private final List<Outage> outages = new ArrayList<>();

    @Test
    void twoHalvesOnOneGpuAreRight() throws IOException {
        granted(0, "");
        created(1, "a", 50, 0);
        created(1, "b", 50, 0);
        bound(2, "a", "gpu-0");
        bound(3, "b", "gpu-0");
        removed(20, "a");
        removed(20, "b");

        assertThat(judged().faults()).isEmpty();
        assertThat(judged().boundPods()).isEqualTo(2);
    }

    @Test
    void moreThanAGpuIsOverbooked() throws IOException {
        granted(0, "");
        created(1, "a", 50, 0);
        created(1, "b", 60, 0);
        bound(2, "a", "gpu-0");
        bound(3, "b", "gpu-0");
        removed(20, "a");

        assertThat(judged().faults()).singleElement().asString().contains("gpu-0 is overbooked");
    }

    @Test
    void whoHasEndedHoldsNothing() throws IOException {
        granted(0, "");
        created(1, "a", 50, 0);
        created(1, "b", 60, 0);
        bound(2, "a", "gpu-0");
        removed(3, "a");
        bound(4, "b", "gpu-0");

        assertThat(judged().faults()).isEmpty();
    }

    @Test
    void aGpuIsNotFreeBeforeTheDevicePluginHasItBack() throws IOException {
        granted(0, "");
        created(1, "a", 50, 0);
        created(1, "b", 60, 0);
        bound(2, "a", "gpu-0");
        granted(3, "a");
        removed(4, "a");
        bound(5, "b", "gpu-0");

        assertThat(judged().faults())
                .singleElement()
                .asString()
                .contains("before the device plugin had it back");
    }

    @Test
    void whoWaitsBesideRoomForTenSecondsIsForgotten() throws IOException {
        granted(0, "");
        created(1, "a", 50, 0);
        removed(12, "a");

        assertThat(judged().faults())
                .singleElement()
                .asString()
                .contains("waited beside room on gpu-0");
    }

    @Test
    void nobodyIsBlamedForWaitingWhileSomethingIsDown() throws IOException {
        granted(0, "");
        created(1, "a", 50, 0);
        outages.add(new Outage(at(2), at(9)));
        removed(12, "a");

        assertThat(judged().faults()).isEmpty();
    }

    @Test
    void roomThatAMoreImportantOneWaitsForIsNotOnesOwn() throws IOException {
        granted(0, "");
        created(1, "first", 60, 100);
        created(1, "second", 60, 0);
        bound(9, "first", "gpu-0");
        removed(10, "first");
        bound(19, "second", "gpu-0");

        assertThat(judged().faults()).isEmpty();
    }

    @Test
    void anEvictionIsForOneThatGetsTheRoom() throws IOException {
        granted(0, "");
        created(1, "low", 60, 0);
        bound(2, "low", "gpu-0");
        created(3, "high", 60, 100);
        reserved(4, "high", "low");
        preempted(5, "low");
        bound(6, "high", "gpu-0");

        assertThat(judged().faults()).isEmpty();
        assertThat(judged().evictions()).containsEntry("the pod got the room", 1);
    }

    @Test
    void anEvictionBesideRoomIsAFault() throws IOException {
        granted(0, "");
        created(1, "low", 40, 0);
        bound(2, "low", "gpu-0");
        created(3, "high", 60, 100);
        reserved(6, "high", "low");
        preempted(7, "low");
        bound(8, "high", "gpu-0");

        assertThat(judged().faults())
                .singleElement()
                .asString()
                .contains("which had room on gpu-0");
    }

    @Test
    void anEvictionForNobodyIsAFault() throws IOException {
        granted(0, "");
        created(1, "low", 60, 0);
        bound(2, "low", "gpu-0");
        preempted(4, "low");

        assertThat(judged().faults()).singleElement().asString().contains("no room was kept");
    }

    private PlacementAudit judged() throws IOException {
        return PlacementAudit.of(
                new BufferedReader(new StringReader(String.join("\n", log))), outages);
    }

    private static Instant at(int second) {
        return BEGIN.plusSeconds(second);
    }

    private void event(
            int second, String verb, String resource, String agent, String asked, String answered) {
        log.add(
                """
                {"stage":"ResponseComplete","verb":"%s","userAgent":"%s","requestReceivedTimestamp":"%s","stageTimestamp":"%s","objectRef":{%s},"responseStatus":{"code":200},"requestObject":%s,"responseObject":%s}\
                """
                        .formatted(
                                verb,
                                agent,
                                at(second),
                                at(second).plus(Duration.ofMillis(2)),
                                resource,
                                asked,
                                answered));
    }

    private static String pod(String name, int core, int priority, String more) {
        return """
        {"metadata":{"uid":"%s","name":"%1$s"%s},"spec":{"priority":%d,"containers":[{"name":"cuda","resources":{"limits":{"tencent.com/vcuda-core":"%d","tencent.com/vcuda-memory":"1"}}}]}}\
        """
                .formatted(name, more, priority, core);
    }

    private void created(int second, String name, int core, int priority) {
        event(second, "create", "\"resource\":\"pods\"", "x", "{}", pod(name, core, priority, ""));
    }

    private void bound(int second, String name, String gpu) {
        event(
                second,
                "create",
                "\"resource\":\"pods\",\"subresource\":\"binding\"",
                "x",
                """
                {"metadata":{"uid":"%s","annotations":{"gpusharing.io/placement":"%1$s;cuda=%s"}},"target":{"name":"node"}}\
                """
                        .formatted(name, gpu),
                "{}");
    }

    private void removed(int second, String name) {
        event(
                second,
                "delete",
                "\"resource\":\"pods\"",
                "x",
                "{}",
                pod(name, 0, 0, ",\"deletionGracePeriodSeconds\":0"));
    }

    private void preempted(int second, String name) {
        event(
                second,
                "delete",
                "\"resource\":\"pods\"",
                "kube-scheduler/v1.36.3",
                "{}",
                pod(name, 0, 0, ",\"deletionGracePeriodSeconds\":0"));
    }

    private void granted(int second, String pod) {
        String grant =
                """
                {"podUid":"%s","container":"cuda","core":50,"memoryMiB":256}\
                """
                        .formatted(pod);
        event(
                second,
                "patch",
                "\"resource\":\"gpunodes\"",
                "x",
                "{}",
                """
                {"metadata":{"name":"node"},"status":{"gpus":[{"uuid":"gpu-0","memoryMiB":15360,"grants":[%s]}]}}\
                """
                        .formatted(pod.isEmpty() ? "" : grant));
    }

    private void reserved(int second, String waiter, String victim) {
        event(
                second,
                "create",
                "\"resource\":\"gpureservations\"",
                "x",
                "{}",
                """
                {"spec":{"pod":{"uid":"%s"},"gpus":[{"uuid":"gpu-0"}],"victims":["%s"]}}\
                """
                        .formatted(waiter, victim));
    }
}
