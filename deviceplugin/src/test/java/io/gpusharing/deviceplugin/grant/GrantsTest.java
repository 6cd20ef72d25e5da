package io.gpusharing.deviceplugin.grant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.placement.Decision;
import io.gpusharing.placement.Decision.Never;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.Decision.Wait;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GrantsTest {

    private static final List<NodeGpu> TWO_GPUS = gpus(2);

    @TempDir private Path folder;
    private Grants grants;

    @BeforeEach
    void start() throws IOException {
        grants = new Grants(file(), _ -> {}, () -> {});
    }

    @Test
    void twoHalvesShareAGpuAndTheThirdGoesToTheOther() throws IOException {
        assertThat(gpuOf(grant("a", app(50, 8192)))).isEqualTo("GPU-0");
        assertThat(gpuOf(grant("b", app(50, 8192)))).isEqualTo("GPU-0");
        assertThat(gpuOf(grant("c", app(50, 8192)))).isEqualTo("GPU-1");
    }

    @Test
    void twiceSixtyNeverShareAGpu() throws IOException {
        grant("a", app(60, 8192));
        grant("b", app(60, 8192));

        assertThat(grant("c", app(60, 8192)))
                .isInstanceOfSatisfying(
                        Wait.class,
                        wait -> assertThat(wait.reason()).contains("60 of 100", "free are 40"));
    }

    @Test
    void aWholeGpuIsSharedWithNobody() throws IOException {
        grant("a", app(10, 256));
        assertThat(gpuOf(grant("b", whole(1)))).isEqualTo("GPU-1");
        assertThat(grant("c", whole(1))).isInstanceOf(Wait.class);
        grant("d", app(90, 8192));
        assertThat(grant("e", app(10, 256))).isInstanceOf(Wait.class);
    }

    @Test
    void memoryThatNoGpuHasIsRefusedForGood() throws IOException {
        assertThat(grant("a", app(10, 20_000))).isInstanceOf(Never.class);
        assertThat(grant("b", whole(3))).isInstanceOf(Never.class);
    }

    @Test
    void anInitContainerUsesWhatTheAppWillUse() throws IOException {
        grant("a", app(60, 8192), init(60, 8192));

        assertThat(grants.of("a").orElseThrow().held())
                .containsExactly(new GpuHold("GPU-0", 60, 8192, false));
    }

    @Test
    void aLargerInitContainerCountsForAsLongAsThePodRuns() throws IOException {
        grant("a", app(30, 1024), init(70, 8192));

        assertThat(grants.of("a").orElseThrow().held())
                .containsExactly(new GpuHold("GPU-0", 70, 8192, false));
        assertThat(gpuOf(grant("b", app(40, 1024)))).isEqualTo("GPU-1");
    }

    @Test
    void anUnhealthyGpuGetsNobody() throws IOException {
        List<NodeGpu> gpus =
                List.of(new NodeGpu(TWO_GPUS.get(0).physical(), "XID 79"), TWO_GPUS.get(1));

        Decision decision = grants.grant("a", "team", "a", List.of(app(50, 256)), gpus);

        assertThat(gpuOf(decision)).isEqualTo("GPU-1");
    }

    @Test
    void grantsOutliveThisProgram() throws IOException {
        grant("a", app(60, 8192), init(10, 256));

        assertThat(new Grants(file(), _ -> {}, () -> {}).all()).isEqualTo(grants.all());
    }

    @Test
    void whatWasReleasedIsFree() throws IOException {
        grant("a", whole(2));
        grants.release(grant -> grant.uid().equals("a"));

        assertThat(grant("b", whole(2))).isInstanceOf(Placed.class);
    }

    @Test
    void aFileThatIsNotOursStopsTheStart() throws IOException {
        Files.writeString(file().path(), "{\"version\": 1, \"pods\": [{}]}");

        assertThatThrownBy(() -> new Grants(file(), _ -> {}, () -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("drain the node");
    }

    private Decision grant(String uid, ContainerAsk... asks) throws IOException {
        return grants.grant(uid, "team", uid, List.of(asks), TWO_GPUS);
    }

    private GrantFile file() {
        return new GrantFile(folder.resolve("grants.json"));
    }

    private static String gpuOf(Decision decision) {
        return ((Placed) decision).containers().getFirst().gpus().getFirst().gpu();
    }

    private static ContainerAsk app(long cores, long memory) {
        return new ContainerAsk("cuda", Kind.App, new GpuAsk(1, cores, memory, false), Set.of());
    }

    private static ContainerAsk init(long cores, long memory) {
        return new ContainerAsk(
                "prepare", Kind.Init, new GpuAsk(1, cores, memory, false), Set.of());
    }

    private static ContainerAsk whole(int count) {
        return new ContainerAsk("cuda", Kind.App, new GpuAsk(count, 100, 0, true), Set.of());
    }

    private static List<NodeGpu> gpus(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new PhysicalGpu(i, "GPU-" + i, i, "model", 16_384, "", false))
                .map(gpu -> new NodeGpu(gpu, null))
                .toList();
    }
}
