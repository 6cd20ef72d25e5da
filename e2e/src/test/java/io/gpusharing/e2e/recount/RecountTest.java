package io.gpusharing.e2e.recount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecountTest {

    private static final String NODE =
            event(
                    "nodes",
                    "/api/v1/nodes",
                    """
                    {"kind":"Node","metadata":{"name":"n","uid":"node"},
                     "status":{"capacity":{"tencent.com/vcuda-core":"200","tencent.com/vcuda-memory":"120"}}}
                    """);
    private static final String HALF =
            "\"containers\":[{\"resources\":{\"limits\":{\"tencent.com/vcuda-core\":\"50\",\"tencent.com/vcuda-memory\":\"15\"}}}]";
    private static final String SCHEDULED =
            "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]";

    @TempDir Path folder;

    @Test
    void chargesFromPodScheduledToTheLastContainersEnd() throws IOException {
        var bills =
                recount(
                        pod(1, "", HALF, SCHEDULED + ",\"phase\":\"Running\""),
                        pod(
                                2,
                                "",
                                HALF,
                                SCHEDULED
                                        + ",\"phase\":\"Failed\","
                                        + ended("containerStatuses", "2026-01-01T00:00:07Z")
                                        + ","
                                        + ended("initContainerStatuses", "2026-01-01T00:00:09Z")));

        assertThat(bill(bills).microGpuSeconds()).isEqualTo(9 * 500_000);
    }

    @Test
    void chargesARemovedPodWithoutTerminalPhaseUntilItsRemoval() throws IOException {
        var bills =
                recount(
                        pod(
                                1,
                                ",\"deletionTimestamp\":\"2026-01-01T00:00:05Z\",\"deletionGracePeriodSeconds\":0",
                                HALF,
                                SCHEDULED + ",\"phase\":\"Running\""));

        assertThat(bill(bills).microGpuSeconds()).isEqualTo(5 * 500_000);
    }

    @Test
    void aPendingDeletionIsNoEnd() throws IOException {
        var bills =
                recount(
                        pod(
                                1,
                                ",\"deletionTimestamp\":\"2026-01-01T00:00:30Z\",\"deletionGracePeriodSeconds\":30",
                                HALF,
                                SCHEDULED + ",\"phase\":\"Running\""));

        assertThat(bill(bills).to()).isNull();
    }

    @Test
    void believesTheLatestVersionWhateverTheOrderOfTheLog() throws IOException {
        var bills =
                recount(
                        pod(
                                2,
                                "",
                                HALF,
                                SCHEDULED
                                        + ",\"phase\":\"Succeeded\","
                                        + ended("containerStatuses", "2026-01-01T00:00:04Z")),
                        pod(1, "", HALF, SCHEDULED + ",\"phase\":\"Running\""));

        assertThat(bill(bills).microGpuSeconds()).isEqualTo(4 * 500_000);
    }

    @Test
    void chargesTheLargerOfComputeAndMemory() throws IOException {
        String mostlyMemory =
                "\"containers\":[{\"resources\":{\"limits\":{\"tencent.com/vcuda-core\":\"10\",\"tencent.com/vcuda-memory\":\"45\"}}}]";

        var bills = recount(pod(1, "", mostlyMemory, SCHEDULED));

        assertThat(bill(bills).microGpus()).isEqualTo(750_000);
    }

    @Test
    void anInitStepThatNeedsMoreDecides() throws IOException {
        String spec =
                HALF
                        + ",\"initContainers\":[{\"resources\":{\"limits\":{\"tencent.com/vcuda-core\":\"200\"}}}]";

        var bills = recount(pod(1, "", spec, SCHEDULED));

        assertThat(bill(bills).microGpus()).isEqualTo(2_000_000);
    }

    @Test
    void ignoresDryRunsAndPodsThatWereNeverPlaced() throws IOException {
        String dry = event("pods", "/api/v1/pods?dryRun=All", object(1, "", HALF, SCHEDULED));

        assertThat(recount(dry, event("pods", "/", object(1, "", HALF, "\"phase\":\"Pending\""))))
                .isEmpty();
    }

    private Map<String, PodBill> recount(String... events) throws IOException {
        var lines = new ArrayList<>(List.of(NODE));
        lines.addAll(List.of(events));
        return Recount.of(Files.write(folder.resolve("audit.log"), lines));
    }

    private static PodBill bill(Map<String, PodBill> bills) {
        assertThat(bills).containsOnlyKeys("u");
        return bills.values().iterator().next();
    }

    private static String pod(int version, String metadata, String spec, String status) {
        return event("pods", "/api/v1/pods", object(version, metadata, spec, status));
    }

    private static String object(int version, String metadata, String spec, String status) {
        return "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"u\",\"resourceVersion\":\""
                + version
                + "\""
                + metadata
                + "},\"spec\":{\"nodeName\":\"n\","
                + spec
                + "},\"status\":{"
                + status
                + "}}";
    }

    private static String ended(String list, String at) {
        return "\"" + list + "\":[{\"state\":{\"terminated\":{\"finishedAt\":\"" + at + "\"}}}]";
    }

    private static String event(String resource, String uri, String answer) {
        return "{\"stage\":\"ResponseComplete\",\"requestURI\":\"%s\",\"objectRef\":{\"resource\":\"%s\"},\"responseStatus\":{\"code\":200},\"responseObject\":%s}"
                .formatted(uri, resource, answer.replace("\n", ""));
    }
}
