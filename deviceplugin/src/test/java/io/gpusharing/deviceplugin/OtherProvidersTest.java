package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.dialect.Vcuda;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.kubelet.CheckpointFile;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherProvidersTest {

    private static final List<NodeGpu> GPUS =
            List.of(
                    new NodeGpu(new PhysicalGpu(0, "GPU-0", 0, "Fake", 16384, "", false), null),
                    new NodeGpu(new PhysicalGpu(1, "GPU-1", 1, "Fake", 16384, "", true), null));

    @TempDir private Path folder;

    @Test
    void onANodeWhoseKubeletKnowsNoPluginThereIsNobodyElse() throws IOException {
        assertThat(refusal(Map.of())).isEmpty();
    }

    @Test
    void whatWeOfferedBeforeARestartIsNotSomebodyElses() throws IOException {
        offered("\"tencent.com/vcuda-core\": [\"g0-0\", \"g0-1\"]");

        assertThat(refusal(Map.of("tencent.com/vcuda-core", "2"))).isEmpty();
    }

    @Test
    void anotherPluginOfTheSameResourceIsNamedWithWhatHelps() throws IOException {
        offered("\"tencent.com/vcuda-memory\": [\"tencent.com/vcuda-memory-12\"]");

        assertThat(refusal(Map.of("tencent.com/vcuda-memory", "62")))
                .hasValueSatisfying(words ->
                        assertThat(words)
                                .contains(
                                        "tencent.com/vcuda-memory is offered on node gpu-1",
                                        "tencent.com/vcuda-memory-12",
                                        "kubectl get pods --all-namespaces",
                                        "kubectl label node gpu-1 gpusharing.io/gpus-"));
    }

    @Test
    void aPluginThatIsGoneIsNobodyThoughTheKubeletsTableStillNamesIt() throws IOException {
        offered("\"tencent.com/vcuda-core\": [\"tencent.com/vcuda-core-0\"]");

        assertThat(refusal(Map.of("tencent.com/vcuda-core", "0"))).isEmpty();
        assertThat(refusal(Map.of())).isEmpty();
    }

    @Test
    void nvidiasPluginMayNotOfferTheSameGpusWholeOrShared() throws IOException {
        offered("\"nvidia.com/gpu\": [\"GPU-0\"]");
        assertThat(refusal(Map.of("nvidia.com/gpu", "1"))).isPresent();

        offered("\"nvidia.com/gpu\": [\"GPU-0::3\"]");
        assertThat(refusal(Map.of("nvidia.com/gpu", "4"))).isPresent();
    }

    @Test
    void nvidiasPluginMayOfferWhatIsSplitByMig() throws IOException {
        offered("\"nvidia.com/gpu\": [\"MIG-5\", \"GPU-1\"]");

        assertThat(refusal(Map.of("nvidia.com/gpu", "2"))).isEmpty();
    }

    @Test
    void whileTheApiServerIsAwayTheKubeletsTableIsBelieved() throws IOException {
        offered("\"tencent.com/vcuda-core\": [\"tencent.com/vcuda-core-0\"]");

        assertThat(
                        others(
                                        () -> {
                                            throw new IOException("no route");
                                        })
                                .refusal())
                .isPresent();
    }

    private Optional<String> refusal(Map<String, String> allocatable) throws IOException {
        return others(() -> allocatable).refusal();
    }

    private OtherProviders others(OtherProviders.Allocatable node) {
        return new OtherProviders(
                new CheckpointFile(table()), new Vcuda(), () -> GPUS, node, "gpu-1");
    }

    private void offered(String registered) throws IOException {
        Files.writeString(
                table(),
                "{\"Data\": {\"PodDeviceEntries\": null, \"RegisteredDevices\": {%s}}, \"Checksum\": 1}"
                        .formatted(registered));
    }

    private Path table() {
        return folder.resolve("kubelet_internal_checkpoint");
    }
}
