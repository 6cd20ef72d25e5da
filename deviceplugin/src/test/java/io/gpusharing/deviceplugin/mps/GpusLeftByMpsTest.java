package io.gpusharing.deviceplugin.mps;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A node that served MPS once. */
class GpusLeftByMpsTest {

    @TempDir private Path root;

    private final NodeGpu one = gpu(0);
    private final NodeGpu other = gpu(1);

    private static NodeGpu gpu(int index) {
        return new NodeGpu(
                new PhysicalGpu(index, "GPU-" + index, index, "Fake", 16_384, "", false), null);
    }

    private List<NodeGpu> all() {
        return new GpusLeftByMps(root.resolve("mps"), () -> List.of(one, other)).all();
    }

    private void left(Phase phase) throws IOException {
        var folder = new GpuFolder(Files.createDirectories(root.resolve("mps/GPU-1")));
        new DaemonState(phase, 1, 1, "9.0", "").write(folder);
    }

    @Test
    void whereThereNeverWasMpsNothingIsDifferent() {
        assertThat(all()).containsExactly(one, other);
    }

    @ParameterizedTest
    @EnumSource(value = Phase.class, names = "Stopped", mode = EnumSource.Mode.EXCLUDE)
    void aGpuThatWasNotGivenBackIsUnhealthyAndSaysHowToResetIt(Phase phase) throws IOException {
        left(phase);

        assertThat(all().getFirst()).isEqualTo(one);
        assertThat(all().getLast().fault())
                .contains("nvidia-smi -c 0 -i GPU-1", root.resolve("mps/GPU-1").toString());
    }

    @Test
    void aGpuThatWasGivenBackIsHealthy() throws IOException {
        left(Phase.Stopped);

        assertThat(all()).containsExactly(one, other);
    }
}
