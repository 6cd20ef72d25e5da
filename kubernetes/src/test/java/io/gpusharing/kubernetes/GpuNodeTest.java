package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GpuNodeTest {

    private static final GpuNode.Gpu GPU =
            new GpuNode.Gpu(
                    "GPU-1", 3, "NVIDIA H200", 15_360L, false, "Healthy", "Idle", List.of());

    @Test
    void itsGpusAreSharedByWhatItSaysThatItOffers() {
        assertThat(node(List.of("tencent.com/vcuda-core")).shared().gpus()).hasSize(1);
    }

    @Test
    void theNumbersOfItsGpusAreThoseOfNvml() {
        assertThat(node(null).shared().indexes()).containsEntry("GPU-1", 3);
    }

    @Test
    void anOlderDevicePluginDoesNotSayWhatItOffers() {
        assertThat(node(null).shared().gpus()).hasSize(1);
    }

    @Test
    void whereAnotherProviderOffersTheGpusNoneAreShared() {
        assertThat(node(List.of()).shared().all().gpus()).isEmpty();
    }

    private static GpuNode node(@Nullable List<String> resources) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName("node").build());
        node.setStatus(new GpuNode.Status(resources, List.of(GPU), null));
        return node;
    }
}
