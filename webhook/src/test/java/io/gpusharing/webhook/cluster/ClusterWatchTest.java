package io.gpusharing.webhook.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.LimitRangeBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.webhook.testing.FakeApiServer;
import java.math.BigDecimal;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClusterWatchTest {

    private static final PlacementProperties PLACEMENT =
            new PlacementProperties(
                    "gpusharing-scheduler",
                    List.of(),
                    List.of(),
                    List.of("*-user-scheduler"),
                    List.of());

    private static final String LIMIT_OF_ONE =
            "\"spec\": {\"limits\": [{\"type\": \"Container\", \"max\": {\"cpu\": \"1\"}}]}";
    private static final String MANY_LIMITS = LIMIT_OF_ONE.replace("\"1\"", "\"many\"");
    private static final String MANY_QUOTAS =
            "\"status\": {\"hard\": {\"cpu\": \"many\"}, \"used\": {\"cpu\": \"1\"}}";

    private final FakeApiServer api = new FakeApiServer();
    private final KubernetesClient client = api.client();
    private final UnreadableObjects unreadable = new UnreadableObjects(object -> {});
    private final ClusterWatch watch =
            new ClusterWatch(
                    client,
                    "gpusharing-system",
                    "nvidia.com/gpu"::equals,
                    PLACEMENT,
                    Optional.empty(),
                    unreadable,
                    Clock.systemUTC());

    @AfterEach
    void stop() {
        watch.stop();
        client.close();
        api.close();
    }

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
                KnownNode.All.of(
                                Stream.concat(alike, others)
                                        .map(node ->
                                                KnownNode.of(
                                                        node,
                                                        name -> name.contains("gpu"),
                                                        PLACEMENT))
                                        .toList())
                        .facts();

        assertThat(facts).hasSize(3);
        assertThat(facts.stream().map(it -> it.labels().get("nvidia.com/gpu.memory")))
                .containsExactly("81559", "81559", "15360");
        assertThat(facts).extracting(NodeFacts::capacity).allMatch(it -> !it.containsKey("cpu"));
    }

    @Test
    void theMaxLimitRequestRatioOfAPodIsReadLikeThatOfContainers() {
        LimitRange range =
                new LimitRangeBuilder()
                        .withNewSpec()
                        .addNewLimit()
                        .withType("Pod")
                        .addToMaxLimitRequestRatio("memory", new Quantity("1"))
                        .addToMaxLimitRequestRatio("nvidia.com/gpu", new Quantity("1"))
                        .endLimit()
                        .endSpec()
                        .build();

        assertThat(LimitRangeReader.limits(range).bounded()).containsOnlyKeys("memory");
    }

    @Test
    void whatALimitRangeGivesToContainersIsReadWithWhatItDemandsOfThem() {
        LimitRange range =
                new LimitRangeBuilder()
                        .withNewSpec()
                        .addNewLimit()
                        .withType("Container")
                        .addToMin("nvidia.com/gpu", new Quantity("1"))
                        .addToDefault("tencent.com/vcuda-core", new Quantity("25"))
                        .addToDefaultRequest("cpu", new Quantity("100m"))
                        .endLimit()
                        .endSpec()
                        .build();

        ContainerLimits limits = LimitRangeReader.limits(range);

        assertThat(limits.defaulted()).containsExactlyInAnyOrder("tencent.com/vcuda-core", "cpu");
        assertThat(limits.demand("nvidia.com/gpu")).isTrue();
        assertThat(limits.demand("tencent.com/vcuda-core")).isFalse();
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

    /** Each of them is stored by an API server, and each was an exception once. */
    @Test
    void whatATenantMayStoreIsReadInItsNamespace() {
        store(
                "limitranges",
                "LimitRange",
                "team-a",
                "no-limits",
                """
                "spec": {"limits": null}
                """);
        store(
                "limitranges",
                "LimitRange",
                "team-a",
                "huge-limit",
                """
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "9e999", "memory": "1E-400"}}]}
                """);
        store(
                "resourcequotas",
                "ResourceQuota",
                "team-a",
                "huge-quota",
                """
                "status": {"hard": {"limits.cpu": "9e999"}, "used": {"limits.cpu": "8e999"}}
                """);

        watch();

        Demands demands = watch.now().demands().apply("team-a");
        assertThat(demands.unread()).isEmpty();
        assertThat(demands.limits().max()).containsOnlyKeys("cpu", "memory");
        assertThat(demands.quotas())
                .singleElement()
                .extracting(quota -> quota.left().get("limits.cpu"))
                .isEqualTo(new BigDecimal("1e999"));
        assertThat(unreadable.present()).isEmpty();
    }

    @Test
    void whatCannotBeReadOfOneNamespaceIsNothingToAnother() {
        store("limitranges", "LimitRange", "team-a", "odd-limit", MANY_LIMITS);
        store("resourcequotas", "ResourceQuota", "team-a", "odd-quota", MANY_QUOTAS);
        store("limitranges", "LimitRange", "team-b", "good-limit", LIMIT_OF_ONE);

        watch();

        assertThat(watch.now().demands().apply("team-a").unread())
                .containsExactly("LimitRange odd-limit", "quota odd-quota");
        assertThat(watch.now().demands().apply("team-b").unread()).isEmpty();
        assertThat(watch.now().demands().apply("team-b").limits().max()).containsOnlyKeys("cpu");
        assertThat(watch.now().demands().apply("team-c")).isEqualTo(Demands.NONE);
    }

    @Test
    void aLimitRangeThatCannotBeReadAnyMoreIsUnknownUntilItCanOrHasGone() {
        store("limitranges", "LimitRange", "team-a", "the-limit", LIMIT_OF_ONE);
        watch();

        store("limitranges", "LimitRange", "team-a", "the-limit", MANY_LIMITS);
        await().until(() -> !watch.now().demands().apply("team-a").unread().isEmpty());
        assertThat(watch.now().demands().apply("team-a").limits()).isEqualTo(ContainerLimits.NONE);

        store("limitranges", "LimitRange", "team-a", "the-limit", LIMIT_OF_ONE);
        await().until(() -> watch.now().demands().apply("team-a").unread().isEmpty());

        store("limitranges", "LimitRange", "team-a", "the-limit", MANY_LIMITS);
        await().until(() -> !unreadable.present().isEmpty());
        api.delete("/api/v1/limitranges/the-limit");
        await().until(() -> watch.now().demands().apply("team-a").equals(Demands.NONE));
        await().until(() -> unreadable.present().isEmpty());
    }

    /** Else one budget that nobody understands would keep every replica from getting ready. */
    @Test
    void whereNothingCanBeReadAllIsReadNevertheless() {
        api.put(
                "/apis/gpusharing.io/v1alpha1/gpubudgets/odd-budget",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget", "metadata": {"name": "odd-budget"},
                 "spec": {"namespaces": ["team-a"], "gpuMinutes": "much"}}
                """);
        api.put(
                "/api/v1/nodes/odd-node",
                """
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "odd-node"},
                 "status": {"capacity": {"nvidia.com/gpu": "many"}}}
                """);
        store("limitranges", "LimitRange", "team-a", "odd-limit", MANY_LIMITS);
        store("resourcequotas", "ResourceQuota", "team-a", "odd-quota", MANY_QUOTAS);

        watch();

        assertThat(watch.missing()).isEmpty();
        assertThat(watch.now().nodes()).isEmpty();
        assertThat(watch.now().budgets().named("odd-budget").isPresent()).isFalse();
        assertThat(unreadable.present())
                .extracting(Unreadable::kind)
                .containsExactlyInAnyOrder("GpuBudget", "Node", "LimitRange", "ResourceQuota");
    }

    private void watch() {
        watch.start();
        await().until(() -> watch.all().allMatch(ObjectInformer::hasSynced));
    }

    /** As the API server lists it: of all namespaces. */
    private void store(String plural, String kind, String namespace, String name, String rest) {
        api.put(
                "/api/v1/%s/%s".formatted(plural, name),
                """
                {"apiVersion": "v1", "kind": "%s", "metadata": {"name": "%s", "namespace": "%s"}, %s}
                """
                        .formatted(kind, name, namespace, rest));
    }
}
