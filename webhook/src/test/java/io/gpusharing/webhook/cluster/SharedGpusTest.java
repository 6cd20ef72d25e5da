package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.wire.GpuNodeStatus;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SharedGpusTest {

    private final PlacementProperties placement =
            new PlacementProperties(
                    "gpusharing-scheduler",
                    List.of("tencent.com/vcuda-core"),
                    List.of("tencent.com/vcuda-core"),
                    List.of(),
                    List.of("gpusharing.io/gpus=shared", "gpushare=true"));

    @Test
    void aNodeOffersWhatItsDevicePluginSays() {
        GpuNode sharing = gpuNode("a", List.of("tencent.com/vcuda-core"));
        GpuNode notYetWritten = gpuNode("b", null);

        assertThat(offering(sharing, notYetWritten))
                .isEqualTo(Map.of("tencent.com/vcuda-core", Set.of("a")));
    }

    @Test
    void aDevicePluginGetsNoPodsOfOtherProviders() {
        GpuNode greedy = gpuNode("a", List.of("nvidia.com/gpu"));

        assertThat(offering(greedy)).isEmpty();
    }

    private Map<String, Set<String>> offering(GpuNode... nodes) {
        return SharedGpusReader.nodes(
                Stream.of(nodes).map(node -> SharedGpusReader.offer(node, placement)).toList());
    }

    private static GpuNode gpuNode(String name, @Nullable List<String> resources) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(name).build());
        node.setStatus(new GpuNodeStatus(resources, null, null));
        return node;
    }

    @Test
    void oneOfTheLabelsIsEnough() {
        var nodes =
                List.of(
                        node("a", Map.of("gpushare", "true")),
                        node("b", Map.of("gpusharing.io/gpus", "shared")),
                        node("c", Map.of("gpusharing.io/gpus", "own")),
                        node("d", Map.of()));

        assertThat(all(nodes).labelled()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void aNodeThatIsNotLabelledAnyMoreOffersNothing() {
        var gone =
                new SharedGpus(
                        Map.of("tencent.com/vcuda-core", Set.of("node-1")),
                        Set.of(),
                        Set.of(),
                        Set.of());

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
        assertThat(all(nodes).elsewhere()).containsExactly("tencent.com/vcuda-core");
        assertThat(all(nodes.subList(0, 2)).elsewhere()).isEmpty();
        assertThat(all(nodes.subList(3, 4)).elsewhere()).isEmpty();

        var mixed =
                new SharedGpus(
                        Map.of("tencent.com/vcuda-core", Set.of("a")),
                        Set.of("a"),
                        Set.of("tencent.com/vcuda-core"),
                        Set.of());
        assertThat(mixed.offer("tencent.com/vcuda-core")).isFalse();
    }

    @Test
    void whatAnotherProvidersNodeHasIsNotAwaitedOfOursAlsoWhileThatNodeIsAway() {
        assertThat(all(List.of(node("away", Map.of(), "800"))).others())
                .containsExactly("tencent.com/vcuda-core");
        assertThat(all(List.of(node("b", Map.of(), "0"))).others()).isEmpty();
        assertThat(all(List.of(node("a", Map.of("gpushare", "true"), "100"))).others()).isEmpty();
    }

    private KnownNode.All all(List<Node> nodes) {
        return KnownNode.All.of(
                nodes.stream().map(node -> KnownNode.of(node, _ -> true, placement)).toList());
    }

    private static Node node(String name, Map<String, String> labels, String core) {
        return new NodeBuilder(node(name, labels))
                .withNewStatus()
                .addToCapacity("tencent.com/vcuda-core", new Quantity(core))
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
