package io.gpusharing.sidecar.attribution;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.attribution.Allocations.Entry;
import io.gpusharing.sidecar.attribution.GrantedPod.Container;
import io.gpusharing.sidecar.attribution.GrantedPod.Hold;
import io.gpusharing.sidecar.attribution.GrantedPod.Kind;
import io.gpusharing.sidecar.usage.PodName;
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
                        List.of(new Entry(POD, "nvidia.com/gpu", List.of("GPU-1", "GPU-2"))));

        assertThat(allocations.soleOwner("GPU-1")).isEqualTo(POD);
        assertThat(allocations.pods("GPU-2")).containsExactly(POD);
        assertThat(allocations.asked(POD, "GPU-1")).isTrue();
        assertThat(allocations.asked(OTHER, "GPU-1")).isFalse();
    }

    @Test
    void replicasHaveNoSoleOwnerEvenWhenOnePodHoldsThem() {
        Allocations allocations =
                Allocations.of(
                        List.of(
                                new Entry(POD, "nvidia.com/gpu.shared", List.of("GPU-1::0")),
                                new Entry(OTHER, "nvidia.com/gpu.shared", List.of("GPU-1::1"))));

        assertThat(allocations.soleOwner("GPU-1")).isNull();
        assertThat(allocations.pods("GPU-1")).containsExactlyInAnyOrder(POD, OTHER);
    }

    @Test
    void unitsOfVcudaAreWeights() {
        Allocations allocations =
                Allocations.of(
                        List.of(
                                new Entry(POD, "tencent.com/vcuda-core", List.of("a", "b", "c")),
                                new Entry(OTHER, "tencent.com/vcuda-core", List.of("d"))));

        assertThat(allocations.weight(POD, "GPU-1")).isEqualTo(3);
        assertThat(allocations.weight(OTHER, "GPU-1")).isEqualTo(1);
        assertThat(allocations.weight("nobody", "GPU-1")).isEqualTo(1);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "nvidia.com/gpu,true",
        "tencent.com/vcuda-core,true",
        "tencent.com/vcuda-memory,false",
        "aliyun.com/gpu-mem,true",
        "example.com/slice,true",
        "amd.com/gpu-large,true",
        "example.com/sliced,false",
        "intel.com/sriov,false"
    })
    void theTableIsReadAsFarAsItsResourcesAreGpusAtThisSite(String resource, boolean gpu) {
        var site =
                new GpuResources(
                        List.of("tencent.com/vcuda-memory", "example.com/slice", "amd.com/gpu*"));

        assertThat(site.contain(resource)).isEqualTo(gpu);
        assertThat(
                        KubeletFiles.entries(
                                "{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"p\",\"ResourceName\":\"%s\"}]}}"
                                        .formatted(resource),
                                site))
                .hasSize(gpu ? 1 : 0);
    }

    @Test
    void grantsSayOfWhichGpuAPodHoldsHowMuch() {
        Allocations allocations =
                Allocations.NONE.with(
                        List.of(
                                granted(POD, app("GPU-1", 60, 8192), app("GPU-2", 10, 1024)),
                                granted(OTHER, app("GPU-1", 20, 2048))));

        assertThat(allocations.weight(POD, "GPU-1")).isEqualTo(60);
        assertThat(allocations.weight(POD, "GPU-2")).isEqualTo(10);
        assertThat(allocations.weight(OTHER, "GPU-1")).isEqualTo(20);
        assertThat(allocations.pods("GPU-1")).containsExactly(POD, OTHER);
        assertThat(allocations.asked(OTHER, "GPU-1")).isTrue();
        assertThat(allocations.asked(OTHER, "GPU-2")).isFalse();
        assertThat(allocations.weight(OTHER, "GPU-2")).isEqualTo(1);
    }

    @Test
    void aGpuThatWasGrantedWholeIsThePodsAlone() {
        Allocations allocations =
                Allocations.NONE.with(
                        List.of(
                                granted(
                                        POD,
                                        new Container(
                                                Kind.App,
                                                List.of(new Hold("GPU-1", 100, 16_384, true)))),
                                granted(OTHER, app("GPU-2", 100, 16_384))));

        assertThat(allocations.soleOwner("GPU-1")).isEqualTo(POD);
        assertThat(allocations.soleOwner("GPU-2")).isNull();
    }

    @Test
    void anInitContainerIsNotCountedBesideThoseThatFollowIt() {
        Container init = new Container(Kind.Init, List.of(new Hold("GPU-1", 30, 1024, false)));
        Container large = new Container(Kind.Init, List.of(new Hold("GPU-1", 70, 1024, false)));
        Container proxy =
                new Container(Kind.NativeSidecar, List.of(new Hold("GPU-1", 10, 1024, false)));

        assertThat(weight(init, app("GPU-1", 50, 1024))).isEqualTo(50);
        assertThat(weight(init, large, app("GPU-1", 50, 1024))).isEqualTo(70);
        assertThat(weight(init, large, proxy, app("GPU-1", 50, 1024))).isEqualTo(80);
        assertThat(weight(init, proxy, app("GPU-1", 50, 1024), app("GPU-1", 5, 1024)))
                .isEqualTo(65);
    }

    private static long weight(Container... containers) {
        return Allocations.NONE.with(List.of(granted(POD, containers))).weight(POD, "GPU-1");
    }

    @Test
    void whoAskedForMemoryAloneIsWeighedByMemory() {
        Allocations allocations =
                Allocations.NONE.with(
                        List.of(
                                granted(POD, app("GPU-1", 0, 6144)),
                                granted(OTHER, app("GPU-1", 0, 2048))));

        assertThat(allocations.weight(POD, "GPU-1"))
                .isEqualTo(3 * allocations.weight(OTHER, "GPU-1"));
    }

    @Test
    void grantsGoBeforeTheKubeletsTable() {
        List<Entry> table =
                List.of(
                        new Entry(POD, "tencent.com/vcuda-core", List.of("g0-1", "g0-2")),
                        new Entry(OTHER, "nvidia.com/gpu", List.of("GPU-1")),
                        new Entry(OTHER, "nvidia.com/mig-1g.10gb", List.of("MIG-7")));

        Allocations allocations =
                Allocations.of(table).with(List.of(granted(POD, app("GPU-1", 50, 8192))));

        assertThat(allocations.soleOwner("GPU-1")).isNull();
        assertThat(allocations.asked(OTHER, "GPU-1")).isFalse();
        assertThat(allocations.weight(POD, "GPU-1")).isEqualTo(50);
        assertThat(allocations.soleOwner("MIG-7")).isEqualTo(OTHER);
        assertThat(allocations.asked(POD, "GPU-2")).isFalse();
    }

    @Test
    void aFileThatAPluginLeftBehindSaysNothing() {
        Allocations table =
                Allocations.of(List.of(new Entry(POD, "nvidia.com/gpu", List.of("GPU-1"))));

        assertThat(table.with(List.of())).isEqualTo(table);
    }

    private static GrantedPod granted(String uid, Container... containers) {
        return new GrantedPod(uid, "team-a", "trainer", List.of(containers));
    }

    private static Container app(String uuid, long cores, long memory) {
        return new Container(Kind.App, List.of(new Hold(uuid, cores, memory, false)));
    }

    @Test
    void case49_bothShapesOfTheCheckpointAreRead() {
        String old =
                "{\"Data\":{\"PodDeviceEntries\":[{\"PodUID\":\"p\",\"ResourceName\":\"nvidia.com/gpu\","
                        + "\"DeviceIDs\":[\"a\",\"b\"]}]}}";
        String now = old.replace("[\"a\",\"b\"]", "{\"0\":[\"a\"],\"1\":[\"b\"]}");

        assertThat(KubeletFiles.entries(old, GpuResources.KNOWN))
                .containsExactly(new Entry("p", "nvidia.com/gpu", List.of("a", "b")));
        assertThat(KubeletFiles.entries(now, GpuResources.KNOWN))
                .isEqualTo(KubeletFiles.entries(old, GpuResources.KNOWN));
    }

    @Test
    void case49_withoutTheKubeletsFilesNoAllocationIsKnown(@TempDir Path directory)
            throws IOException {
        KubeletFiles none =
                new KubeletFiles(
                        directory.resolve("x"), directory.resolve("y"), GpuResources.KNOWN);
        none.refreshAllocations();
        assertThat(none.isReadable()).isFalse();
        assertThat(none.allocations()).isEqualTo(Allocations.NONE);

        Path broken = directory.resolve("broken");
        Files.writeString(broken, "{\"Data\":");
        KubeletFiles unreadable =
                new KubeletFiles(broken, directory.resolve("y"), GpuResources.KNOWN);
        unreadable.refreshAllocations();
        assertThat(unreadable.isReadable()).isFalse();
    }

    @Test
    void podsAreNamedByTheirDirectoriesOfLogs(@TempDir Path directory) throws IOException {
        Files.createDirectories(directory.resolve("team-a_notebook-0_" + POD));
        Files.createDirectories(directory.resolve("something else"));
        KubeletFiles kubelet =
                new KubeletFiles(directory.resolve("x"), directory, GpuResources.KNOWN);

        kubelet.refreshNames();

        assertThat(kubelet.name(POD)).isEqualTo(new PodName("team-a", "notebook-0"));
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
