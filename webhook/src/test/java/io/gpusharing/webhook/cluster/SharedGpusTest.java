package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.webhook.cluster.SharedGpusReader.Offers;
import io.gpusharing.wire.GpuNodeStatus;
import java.util.Collection;
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
        return offers(nodes).nodes();
    }

    private Offers offers(GpuNode... nodes) {
        return Offers.of(
                Stream.of(nodes).map(node -> SharedGpusReader.offer(node, placement)).toList());
    }

    /** GPUs of 16 and 80 GiB have 48 in the mean. */
    @Test
    void whatFitsOnTheLargestGpuOfANodeIsNotWarnedOf() {
        var together =
                new NodeFacts(
                        Map.of(
                                VcudaGrammar.CORE,
                                io.gpusharing.request.Quantity.of(200),
                                VcudaGrammar.MEMORY,
                                io.gpusharing.request.Quantity.of(384)),
                        Map.of());
        GpuNode mixed = gpuNode("a", List.of(VcudaGrammar.CORE), gpu(16_384), gpu(81_920));

        var nodes = offers(mixed).with(List.of(together));

        assertThat(warnings(320, nodes)).isEmpty();
        assertThat(warnings(321, nodes))
                .containsExactly(
                        "container \"cuda\" asks for 321 blocks of GPU memory; the largest GPU has 320");
        assertThat(offers(gpuNode("a", null)).with(List.of(together))).containsExactly(together);
    }

    private static List<String> warnings(long blocks, Collection<NodeFacts> nodes) {
        Map<String, io.gpusharing.request.Quantity> limits =
                Map.of(
                        VcudaGrammar.CORE,
                        io.gpusharing.request.Quantity.of(50),
                        VcudaGrammar.MEMORY,
                        io.gpusharing.request.Quantity.of(blocks));
        var pod =
                new PodRequest(
                        List.of(
                                new ContainerRequest(
                                        "cuda", ContainerRequest.Kind.App, limits, Map.of())));
        return new VcudaGrammar().warnings(pod, nodes);
    }

    private static GpuNodeStatus.Gpu gpu(long memory) {
        return new GpuNodeStatus.Gpu(
                "GPU-" + memory, null, null, memory, null, "Healthy", null, "Idle", null);
    }

    private static GpuNode gpuNode(
            String name, @Nullable List<String> resources, GpuNodeStatus.Gpu... gpus) {
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(name).build());
        node.setStatus(new GpuNodeStatus(resources, List.of(gpus), null));
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
