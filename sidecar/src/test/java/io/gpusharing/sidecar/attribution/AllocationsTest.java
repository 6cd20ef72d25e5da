package io.gpusharing.sidecar.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.attribution.Allocations.Grant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Allocations from the kubelet's files. */
class AllocationsTest {

    private static final String POD = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    private static final String OTHER = "11111111-2222-3333-4444-555555555555";

    @ParameterizedTest(name = "case 49: {0}")
    @CsvSource({
        "GPU-1f2e,GPU-1f2e,true",
        "GPU-1f2e::3,GPU-1f2e,false",
        "MIG-77aa,MIG-77aa,true",
        "MIG-GPU-1f2e/3/0,MIG-GPU-1f2e/3/0,true",
        "nvidia0/gi3/vgpu1,'',false",
        "nvidia0,'',false",
        "tencent.com/vcuda-core-7,'',false",
        "'','',false"
    })
    void case49_idsOfEveryPluginAreReadRight(String id, String uuid, boolean whole) {
        assertThat(DeviceId.parse(id)).isEqualTo(new DeviceId(uuid, whole));
    }

    @Test
    void aGpuThatIsGivenWholeToOnePodIsItsAlone() {
        Allocations allocations =
                Allocations.of(
                        List.of(new Grant(POD, "nvidia.com/gpu", List.of("GPU-1", "GPU-2"))));

        assertThat(allocations.soleOwner("GPU-1")).isEqualTo(POD);
        assertThat(allocations.pods("GPU-2")).containsExactly(POD);
        assertThat(allocations.asked(POD)).isTrue();
        assertThat(allocations.asked(OTHER)).isFalse();
    }

    @Test
    void replicasHaveNoSoleOwnerEvenWhenOnePodHoldsThem() {
        Allocations allocations =
                Allocations.of(
                        List.of(
                                new Grant(POD, "nvidia.com/gpu.shared", List.of("GPU-1::0")),
                                new Grant(OTHER, "nvidia.com/gpu.shared", List.of("GPU-1::1"))));

        assertThat(allocations.soleOwner("GPU-1")).isNull();
        assertThat(allocations.pods("GPU-1")).containsExactlyInAnyOrder(POD, OTHER);
    }

    @Test
    void unitsOfVcudaAreWeights() {
        Allocations allocations =
                Allocations.of(
                        List.of(
                                new Grant(POD, "tencent.com/vcuda-core", List.of("a", "b", "c")),
                                new Grant(OTHER, "tencent.com/vcuda-core", List.of("d"))));

        assertThat(allocations.weight(POD)).isEqualTo(3);
        assertThat(allocations.weight(OTHER)).isEqualTo(1);
        assertThat(allocations.weight("nobody")).isEqualTo(1);
    }

    @Test
    void otherResourcesDoNotRequestAGpu() {
        assertThat(
                        Allocations.of(List.of(new Grant(POD, "intel.com/sriov", List.of("eth1"))))
                                .asked(POD))
                .isFalse();
    }

    @Test
    void case49_bothShapesOfTheCheckpointAreRead() {
        String old =
                "{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"p\",\"ResourceName\":\"r\","
                        + "\"DeviceIDs\":[\"a\",\"b\"]}]}}";
        String now = old.replace("[\"a\",\"b\"]", "{\"0\":[\"a\"],\"1\":[\"b\"]}");

        assertThat(KubeletFiles.grants(old))
                .containsExactly(new Grant("p", "r", List.of("a", "b")));
        assertThat(KubeletFiles.grants(now)).isEqualTo(KubeletFiles.grants(old));
    }

    @Test
    void case49_withoutTheKubeletsFilesNoAllocationIsKnown(@TempDir Path directory)
            throws IOException {
        KubeletFiles none = new KubeletFiles(directory.resolve("x"), directory.resolve("y"));
        none.refresh();
        assertThat(none.isReadable()).isFalse();
        assertThat(none.allocations()).isEqualTo(Allocations.NONE);

        Path broken = directory.resolve("broken");
        Files.writeString(broken, "{\"Data\":");
        KubeletFiles unreadable = new KubeletFiles(broken, directory.resolve("y"));
        unreadable.refresh();
        assertThat(unreadable.isReadable()).isFalse();
    }

    @Test
    void podsAreNamedByTheirDirectoriesOfLogs(@TempDir Path directory) throws IOException {
        Files.createDirectories(directory.resolve("team-a_notebook-0_" + POD));
        Files.createDirectories(directory.resolve("something else"));
        KubeletFiles kubelet = new KubeletFiles(directory.resolve("x"), directory);

        kubelet.refresh();

        assertThat(kubelet.name(POD)).isEqualTo(new KubeletFiles.PodName("team-a", "notebook-0"));
        assertThat(kubelet.name(OTHER)).isNull();
    }

    @ParameterizedTest(name = "{0} is {1} whole GPUs")
    @CsvSource({
        "'main/nvidia.com/gpu=2',2",
        "'main/tencent.com/vcuda-core=200,main/tencent.com/vcuda-memory=30',2",
        "'a/nvidia.com/gpu=1,b/nvidia.com/gpu=1',2",
        "'main/tencent.com/vcuda-core=50,main/tencent.com/vcuda-memory=15',0",
        "'a/nvidia.com/gpu=1,b/tencent.com/vcuda-core=50',0",
        "'main/nvidia.com/gpu.shared=1',0",
        "'main/nvidia.com/mig-1g.10gb=1',0",
        "'',0",
        "nonsense,0"
    })
    void onlyWholeGpusAreAPodsAlone(String annotation, int gpus) {
        assertThat(GpuRequest.parse(annotation).wholeGpus()).isEqualTo(gpus);
    }
}
