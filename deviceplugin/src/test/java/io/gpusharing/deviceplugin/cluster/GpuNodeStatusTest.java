package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.gpusharing.deviceplugin.cluster.GpuNodeStatus.GrantedContainer;
import io.gpusharing.deviceplugin.cluster.GpuNodeStatus.Mode;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuNodeStatusTest {

    @TempDir private Path devices;

    private final NodeGpu first = gpu(0, null, false);
    private final NodeGpu second = gpu(1, "XID 79: the GPU has fallen off the bus", false);

    @Test
    void saysWhatEachGpuIsAndWhoHoldsIt() throws IOException {
        Files.createDirectories(devices.resolve("0000:00:00.0"));
        Files.writeString(devices.resolve("0000:00:00.0").resolve("numa_node"), "1\n");
        PodGrant half = grant("u-1", "trainer", new GpuHold("GPU-0", 50, 8_192, false));

        GpuNodeStatus status =
                GpuNodeStatus.of(
                        GpuNodeStatus.TIME_SLICE,
                        List.of("tencent.com/vcuda-core", "tencent.com/vcuda-memory"),
                        List.of(first, second),
                        List.of(half),
                        List.of(),
                        new NumaNodes(devices)::of);

        assertThat(status.json())
                .isEqualTo(
                        JsonParser.parseString(
                                """
                                {"tier": "TimeSlice",
                                 "resources": ["tencent.com/vcuda-core", "tencent.com/vcuda-memory"],
                                 "gpuCount": 2, "unhealthyCount": 1, "gpus": [
                                  {"index": 0, "uuid": "GPU-0", "minor": 0, "model": "NVIDIA H200",
                                   "memoryMiB": 143771, "pciBusId": "0000:00:00.0", "numaNode": 1,
                                   "mig": false, "health": "Healthy", "mode": "Shared", "grants": [
                                     {"podUid": "u-1", "namespace": "team", "pod": "trainer",
                                      "container": "cuda", "kind": "App", "core": 50, "memoryMiB": 8192}]},
                                  {"index": 1, "uuid": "GPU-1", "minor": 1, "model": "NVIDIA H200",
                                   "memoryMiB": 143771, "pciBusId": "0000:00:01.0",
                                   "mig": false, "health": "Unhealthy",
                                   "reason": "XID 79: the GPU has fallen off the bus",
                                   "mode": "Idle", "grants": []}], "refused": []}
                                """));
    }

    @Test
    void saysThatTheMemoryOfAGpuIsTheNodes() {
        var gpu = new PhysicalGpu(0, "GPU-0", 0, "NVIDIA GB10", 122_560, "", false, true);

        JsonObject json =
                GpuNodeStatus.of(
                                GpuNodeStatus.TIME_SLICE,
                                List.of(),
                                List.of(new NodeGpu(gpu, null)),
                                List.of(),
                                List.of(),
                                device -> null)
                        .json();

        assertThat(json.getAsJsonArray("gpus").get(0))
                .isEqualTo(
                        JsonParser.parseString(
                                """
                                {"index": 0, "uuid": "GPU-0", "minor": 0, "model": "NVIDIA GB10",
                                 "memoryMiB": 122560, "unifiedMemory": true, "mig": false,
                                 "health": "Healthy", "mode": "Idle", "grants": []}
                                """));
    }

    @Test
    void saysWhoWasRefusedTheOldestFirst() {
        Instant noon = Instant.parse("2026-03-02T12:00:00Z");
        var starts = refused("u-1", noon, noon.plusSeconds(90), "No GPU has room");
        var waits = refused("u-2", noon.minusSeconds(1), null, "x".repeat(300));

        JsonObject json =
                GpuNodeStatus.of(
                                GpuNodeStatus.TIME_SLICE,
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(starts, waits),
                                device -> null)
                        .json();

        assertThat(json.get("refused"))
                .isEqualTo(
                        JsonParser.parseString(
                                """
                                [{"podUid": "u-2", "namespace": "team", "pod": "trainer",
                                  "since": "2026-03-02T11:59:59Z", "final": false, "ran": false,
                                  "reason": "%s…"},
                                 {"podUid": "u-1", "namespace": "team", "pod": "trainer",
                                  "since": "2026-03-02T12:00:00Z", "until": "2026-03-02T12:01:30Z",
                                  "final": false, "ran": false, "reason": "No GPU has room"}]
                                """
                                        .formatted("x".repeat(255))));
        assertThat(RefusedPod.of(starts.json())).isEqualTo(starts);
        assertThat(RefusedPod.of(waits.json())).isEqualTo(waits);
    }

    private static RefusedPod refused(
            String uid, Instant since, @Nullable Instant until, String reason) {
        return new RefusedPod(uid, "team", "trainer", since, until, false, false, reason);
    }

    @Test
    void isTheSameInWhicheverOrderGpusAndGrantsCome() {
        PodGrant a = grant("u-2", "a", new GpuHold("GPU-0", 30, 1_024, false));
        PodGrant b =
                grant(
                        "u-1",
                        "b",
                        new GpuHold("GPU-0", 30, 1_024, false),
                        new GpuHold("GPU-1", 30, 1_024, false));

        GpuNodeStatus one = status(List.of(first, second), List.of(a, b));
        GpuNodeStatus other = status(List.of(second, first), List.of(b, a));

        assertThat(one).isEqualTo(other);
        assertThat(one.json()).hasToString(other.json().toString());
        assertThat(one.gpus().getFirst().grants())
                .extracting(GpuNodeStatus.GrantedContainer::pod)
                .containsExactly("a", "b");
    }

    @Test
    void whoSharesByMpsIsInADomain() {
        Sharing sharing = Sharing.cooperative("budget/a");
        GpuNodeStatus status =
                GpuNodeStatus.of(
                        GpuNodeStatus.COOPERATIVE,
                        List.of(),
                        List.of(first),
                        List.of(
                                grant("u-1", "a", new GpuHold("GPU-0", 30, 1_024, false, sharing)),
                                grant("u-2", "b", new GpuHold("GPU-0", 30, 1_024, false))),
                        List.of(),
                        device -> null);

        assertThat(status.json().toString())
                .contains("\"tier\":\"Cooperative\"")
                .containsOnlyOnce("\"domain\":\"budget/a\"");
    }

    @Test
    void aWholeGpuSaysSo() {
        PodGrant whole = grant("u-1", "a", new GpuHold("GPU-1", 100, 143_771, true));

        assertThat(status(List.of(first, second), List.of(whole)).gpus())
                .extracting(GpuNodeStatus.Gpu::mode)
                .containsExactly(Mode.Idle, Mode.Whole);
    }

    @Test
    void whatNvmlDoesNotTellIsAbsent() {
        var bare = new NodeGpu(new PhysicalGpu(0, "GPU-0", 0, "", 0, "", true), null);

        assertThat(status(List.of(bare), List.of()).json())
                .isEqualTo(
                        JsonParser.parseString(
                                """
                                {"tier": "TimeSlice", "resources": [], "gpuCount": 1, "unhealthyCount": 0, "gpus": [{"index": 0, "uuid": "GPU-0",
                                 "minor": 0, "memoryMiB": 0, "mig": true, "health": "Healthy",
                                 "mode": "Idle", "grants": []}], "refused": []}
                                """));
    }

    @Test
    void aComputerWithoutNumaHasNoNumaNodes() throws IOException {
        Path device = Files.createDirectories(devices.resolve("0000:17:00.0"));
        Files.writeString(device.resolve("numa_node"), "-1\n");
        var nodes = new NumaNodes(devices);

        assertThat(nodes.of("0000:17:00.0")).isNull();
        assertThat(nodes.of("0000:18:00.0")).isNull();
        assertThat(nodes.of("")).isNull();
        Files.writeString(device.resolve("numa_node"), "0\n");
        assertThat(nodes.of("0000:17:00.0")).isZero();
    }

    /** Each of a hundredth of one GPU, and of steps that have it one after the other. */
    @Test
    void saysWhatEachPodHoldsWhereWhatEachContainerHoldsIsTooMuchToBeStored() {
        List<PodGrant> grants =
                IntStream.range(0, 20)
                        .mapToObj(pod ->
                                new PodGrant(
                                        "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f%02d".formatted(pod),
                                        "n".repeat(63),
                                        "%0253d".formatted(pod),
                                        IntStream.range(0, 177)
                                                .mapToObj(GpuNodeStatusTest::step)
                                                .toList()))
                        .toList();

        GpuNodeStatus status = status(List.of(first), grants);

        assertThat(status.json().toString()).hasSizeLessThan(20_000);
        assertThat(status.gpus().getFirst().grants())
                .hasSize(20)
                .extracting(
                        GrantedContainer::container,
                        GrantedContainer::core,
                        GrantedContainer::memoryMiB)
                .containsOnly(tuple("*", 1L, 512L));
    }

    private static ContainerPlacement step(int number) {
        return new ContainerPlacement(
                "a" + number,
                number == 0 ? Kind.App : Kind.Init,
                List.of(new GpuHold("GPU-0", 1, number == 5 ? 512 : 256, false)));
    }

    private static GpuNodeStatus status(List<NodeGpu> gpus, List<PodGrant> grants) {
        return GpuNodeStatus.of(
                GpuNodeStatus.TIME_SLICE, List.of(), gpus, grants, List.of(), device -> null);
    }

    private static NodeGpu gpu(int index, @Nullable String fault, boolean mig) {
        return new NodeGpu(
                new PhysicalGpu(
                        index,
                        "GPU-" + index,
                        index,
                        "NVIDIA H200",
                        143_771,
                        "0000:00:0%d.0".formatted(index),
                        mig),
                fault);
    }

    private static PodGrant grant(String uid, String pod, GpuHold... holds) {
        return new PodGrant(
                uid,
                "team",
                pod,
                List.of(new ContainerPlacement("cuda", Kind.App, List.of(holds))));
    }
}
