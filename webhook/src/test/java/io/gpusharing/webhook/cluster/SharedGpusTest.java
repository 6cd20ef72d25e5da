package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.kubernetes.GpuNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SharedGpusTest {

    private final PlacementProperties placement =
            new PlacementProperties(
                    "gpusharing-scheduler",
                    List.of("tencent.com/vcuda-core"),
                    List.of("gpusharing.io/gpus=shared", "gpushare=true"));

    @Test
    void aNodeOffersWhatItsDevicePluginSays() {
        GpuNode sharing = gpuNode("a", List.of("tencent.com/vcuda-core"));
        GpuNode notYetWritten = gpuNode("b", null);

        assertThat(SharedGpusReader.offering(List.of(sharing, notYetWritten), placement))
                .isEqualTo(Map.of("tencent.com/vcuda-core", Set.of("a")));
    }

    @Test
    void aDevicePluginGetsNoPodsOfOtherProviders() {
        GpuNode greedy = gpuNode("a", List.of("nvidia.com/gpu"));

        assertThat(SharedGpusReader.offering(List.of(greedy), placement)).isEmpty();
    }

    private static GpuNode gpuNode(String name, @Nullable List<String> resources) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(name).build());
        node.setStatus(new GpuNode.Status(resources, null, null));
        return node;
    }

    @Test
    void oneOfTheLabelsIsEnough() {
        assertThat(
                        SharedGpusReader.labelled(
                                List.of(
                                        node("a", Map.of("gpushare", "true")),
                                        node("b", Map.of("gpusharing.io/gpus", "shared")),
                                        node("c", Map.of("gpusharing.io/gpus", "own")),
                                        node("d", Map.of())),
                                placement))
                .containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void aNodeThatIsNotLabelledAnyMoreOffersNothing() {
        var gone =
                new SharedGpus(
                        Map.of("tencent.com/vcuda-core", Set.of("node-1")), Set.of(), Set.of());

        assertThat(gone.offer("tencent.com/vcuda-core")).isFalse();
    }

    @Test
    void whileAnotherProviderOffersTheSameOurSchedulerGetsNothing() {
        List<Node> nodes =
                List.of(
                        node("a", Map.of("gpushare", "true"), "100"),
                        node("b", Map.of(), "0"),
                        node("c", Map.of("gpushare", "later"), "800"),
                        node("away", Map.of(), "800"));
        assertThat(SharedGpusReader.elsewhere(nodes, placement))
                .containsExactly("tencent.com/vcuda-core");
        assertThat(SharedGpusReader.elsewhere(nodes.subList(0, 2), placement)).isEmpty();
        assertThat(SharedGpusReader.elsewhere(nodes.subList(3, 4), placement)).isEmpty();

        var mixed =
                new SharedGpus(
                        Map.of("tencent.com/vcuda-core", Set.of("a")),
                        Set.of("a"),
                        Set.of("tencent.com/vcuda-core"));
        assertThat(mixed.offer("tencent.com/vcuda-core")).isFalse();
    }

    private static Node node(String name, Map<String, String> labels, String core) {
        return new NodeBuilder(node(name, labels))
                .withNewStatus()
                .addToAllocatable("tencent.com/vcuda-core", new Quantity(core))
                .addToAllocatable("cpu", new Quantity("16"))
                .addNewCondition()
                .withType("Ready")
                .withStatus(name.equals("away") ? "Unknown" : "True")
                .endCondition()
                .endStatus()
                .build();
    }

    private static Node node(String name, Map<String, String> labels) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .withLabels(labels)
                .endMetadata()
                .build();
    }
}
