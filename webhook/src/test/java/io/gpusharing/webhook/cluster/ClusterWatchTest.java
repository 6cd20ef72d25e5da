package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.LimitRangeItemBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.gpusharing.request.NodeFacts;
import java.math.BigDecimal;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ClusterWatchTest {

    private static Node node(String name, String gpus, String memory) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kubernetes.io/hostname", name)
                .addToLabels("nvidia.com/gfd.timestamp", Integer.toString(name.hashCode()))
                .addToLabels("nvidia.com/gpu.memory", memory)
                .endMetadata()
                .withNewStatus()
                .addToCapacity("cpu", new Quantity("32"))
                .addToCapacity("nvidia.com/gpu", new Quantity(gpus))
                .endStatus()
                .build();
    }

    @Test
    void nodesWithTheSameGpusAreGrouped() {
        Stream<Node> alike = IntStream.range(0, 1_000).mapToObj(i -> node("a" + i, "8", "81559"));
        Stream<Node> others = Stream.of(node("b", "4", "81559"), node("c", "8", "15360"));

        var facts =
                ClusterWatch.nodes(
                        Stream.concat(alike, others).toList(), name -> name.contains("gpu"));

        assertThat(facts).hasSize(3);
        assertThat(facts.stream().map(it -> it.labels().get("nvidia.com/gpu.memory")))
                .containsExactly("81559", "81559", "15360");
        assertThat(facts).extracting(NodeFacts::capacity).allMatch(it -> !it.containsKey("cpu"));
    }

    @Test
    void theMaxLimitRequestRatioOfAPodIsReadLikeThatOfContainers() {
        var item =
                new LimitRangeItemBuilder()
                        .withType("Pod")
                        .addToMaxLimitRequestRatio("memory", new Quantity("1"))
                        .build();

        assertThat(ClusterWatch.limits(item).bounded()).containsOnlyKeys("memory");
    }

    @Test
    void aQuotaLeavesWhatIsNotUsed() {
        ResourceQuota quota =
                new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withName("team")
                        .endMetadata()
                        .withNewSpec()
                        .withScopes("NotBestEffort")
                        .endSpec()
                        .withNewStatus()
                        .addToHard("cpu", new Quantity("4"))
                        .addToHard("limits.memory", new Quantity("4Gi"))
                        .addToHard("count/pods", new Quantity("3"))
                        .addToHard("services", new Quantity("3"))
                        .addToUsed("cpu", new Quantity("3500m"))
                        .addToUsed("limits.memory", new Quantity("5Gi"))
                        .addToUsed("count/pods", new Quantity("1"))
                        .addToUsed("services", new Quantity("1"))
                        .endStatus()
                        .build();

        Quota left = QuotaReader.quota(quota);

        assertThat(left.left())
                .containsOnlyKeys("requests.cpu", "limits.memory", "pods")
                .containsEntry("requests.cpu", new BigDecimal("0.500"));
        assertThat(left.left().get("limits.memory")).isNegative();
        assertThat(left.scopes()).extracting(Quota.Scope::name).containsExactly("NotBestEffort");
    }

    @Test
    void aQuotaWithoutAStatusLeavesEverything() {
        ResourceQuota quota =
                new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withName("new")
                        .endMetadata()
                        .withNewSpec()
                        .addToHard("limits.cpu", new Quantity("1"))
                        .endSpec()
                        .build();

        assertThat(QuotaReader.quota(quota).left()).isEmpty();
    }
}
