package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.cluster.PodEvents.PodName;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.start.Disagreement;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PodNoticesTest {

    private final List<String> told = new ArrayList<>();
    private final PodNotices notices =
            new PodNotices((pod, type, reason, message) ->
                    told.add("%s %s %s: %s".formatted(pod.name(), type, reason, message)));

    @Test
    void whoSharesByMpsIsToldWhatItIsWorth() {
        notices.granted(
                grant(new GpuHold("GPU-0", 50, 4096, false, Sharing.cooperative("cluster"))));

        assertThat(told.toString())
                .contains("shared by MPS", "a program can lift its own")
                .doesNotContain("time slices", "isolat");
    }

    @Test
    void whoSharesAGpuIsToldThatNothingIsLimited() {
        notices.granted(grant(new GpuHold("GPU-0", 50, 4096, false)));

        assertThat(told)
                .singleElement()
                .asString()
                .contains(
                        "train Normal GpuGranted: cuda: 50 of 100 and 4096 MiB of GPU-0",
                        "nothing keeps a pod from taking more");
    }

    @Test
    void whoHasAWholeGpuIsToldWhich() {
        notices.granted(grant(new GpuHold("GPU-0", 100, 0, true)));

        assertThat(told).containsExactly("train Normal GpuGranted: cuda: all of GPU-0");
    }

    @Test
    void thePodsOfAGpuThatFailsAreToldOnceAndAgainAfterItsRecovery() {
        List<PodGrant> grants = List.of(grant(new GpuHold("GPU-0", 50, 4096, false)));

        notices.gpusChanged(List.of(gpu(0, "XID 79"), gpu(1, "XID 48")), grants);
        notices.gpusChanged(List.of(gpu(0, "XID 79"), gpu(1, null)), grants);
        assertThat(told)
                .singleElement()
                .asString()
                .startsWith("train Warning GpuUnhealthy: GPU-0: XID 79.");

        notices.gpusChanged(List.of(gpu(0, null)), grants);
        notices.gpusChanged(List.of(gpu(0, "XID 79")), grants);
        assertThat(told).hasSize(2);
    }

    @Test
    void aPodOfWhichTheKubeletSaysSomethingElseIsToldOnceWhileThatLasts() {
        var lost =
                Set.of(
                        new Disagreement(
                                Disagreement.Kind.UNGRANTED, new PodName("1", "team", "train")));

        notices.disagreeing(lost);
        notices.disagreeing(lost);
        assertThat(told)
                .singleElement()
                .asString()
                .startsWith("train Warning GpusDisagree: It uses a GPU that no grant counts");

        notices.disagreeing(Set.of());
        notices.disagreeing(lost);
        assertThat(told).hasSize(2);
    }

    private static PodGrant grant(GpuHold hold) {
        return new PodGrant(
                "1",
                "team",
                "train",
                List.of(new ContainerPlacement("cuda", Kind.App, List.of(hold))));
    }

    private static NodeGpu gpu(int index, @Nullable String fault) {
        return new NodeGpu(
                new PhysicalGpu(index, "GPU-" + index, index, "Fake", 16384, "", false), fault);
    }
}
