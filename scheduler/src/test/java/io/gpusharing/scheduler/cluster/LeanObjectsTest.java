package io.gpusharing.scheduler.cluster;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.LabelMatch;
import io.gpusharing.scheduler.picture.SchedulingConstraints;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LeanObjectsTest {

    private static final String WAITING =
            """
            {"metadata": {"name": "a", "namespace": "team-a", "annotations": {"gpusharing.io/do-not-reclaim": "true", "hami.io/vgpu-devices-allocated": "", "other": "x"},
              "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]},
             "spec": {"priority": 0, "nodeSelector": {"gpu": "yes"},
              "tolerations": [{"operator": "Exists"}],
              "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "host"}]}},
              "volumes": [{"name": "data", "emptyDir": {}}],
              "containers": [{"name": "cuda", "command": ["train"], "env": [{"name": "A", "value": "1"}],
               "ports": [{"hostPort": 80, "containerPort": 80}], "volumeMounts": [{"name": "data", "mountPath": "/data"}],
               "resources": {"limits": {"tencent.com/vcuda-core": "50"}}}]}}
            """;

    private static final Pod PLACED = read(Pod.class, WAITING);

    /** A tenant may write its pod's managed fields; the API server stores what parses as a set. */
    @Test
    void managedFieldsHoweverDeepAndLongEndNoList() {
        String fields =
                "{\"f:%s\": ".formatted("x".repeat(60_000))
                        + "{\"f:a\": ".repeat(9_000)
                        + "{}"
                        + "}".repeat(9_001);
        String list =
                """
                {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [
                  {"metadata": {"name": "one", "managedFields": [{"manager": "m", "fieldsV1": %s}]}},
                  {"metadata": {"name": "two"}}]}
                """
                        .formatted(fields);

        PodList pods = LeanObjects.serialization().unmarshal(list, PodList.class);

        assertThat(pods.getItems())
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly("one", "two");
    }

    private static String many(int times, String each) {
        return IntStream.range(0, times)
                .mapToObj(i -> each.replace("%d", String.valueOf(i)))
                .collect(joining(","));
    }

    private static <T> T read(Class<T> kind, String json) {
        return LeanObjects.serialization().unmarshal(json, kind);
    }

    @Test
    void whoElseCouldHaveGoneIsWrittenAndNotRead() {
        var considered = new GpuEviction.Considered(Map.of("TOO_SOON", 3), List.of());
        var eviction = new GpuEviction();
        eviction.setSpec(new GpuEviction.Spec("Reclaim", "n1", List.of(), null, null, considered));

        String json = LeanObjects.serialization().asJson(eviction);

        assertThat(json).contains("\"considered\":{", "\"TOO_SOON\":3");
        assertThat(read(GpuEviction.class, json).getSpec().considered()).isNull();
    }

    @Test
    void whatAPodSaysOfItsPlaceIsNotKept() {
        Pod pod =
                read(
                        Pod.class,
                        """
                        {"spec": {
                          "topologySpreadConstraints": [{"labelSelector": {"matchExpressions": [{"values": [%1$s]}]}}],
                          "affinity": {
                            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                              {"nodeSelectorTerms": [{"matchExpressions": [{"values": [%1$s]}]}]}},
                            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                              {"labelSelector": {"matchExpressions": [{"values": [%1$s]}]}}]}}}}
                        """
                                .formatted(many(10_000, "\"v%d\"")));

        assertThat(pod.toString()).hasSizeLessThan(5_000);
        assertThat(pod.getSpec().getTopologySpreadConstraints()).hasSize(1);
        assertThat(pod.getSpec().getAffinity().getPodAffinity()).isNull();
        assertThat(pod.getSpec().getAffinity().getPodAntiAffinity()).isNotNull();
    }

    @Test
    void whatNobodyReadsOfAPodsMetadataIsNotKept() {
        ObjectMeta metadata =
                read(
                                Pod.class,
                                """
                                {"metadata": {"name": "p", "uid": "u",
                                  "labels": {"gpusharing.io/metered": "true", %s},
                                  "annotations": {"gpusharing.io/budget": "team-a", %s},
                                  "finalizers": [%s],
                                  "ownerReferences": [{"kind": "Job", "uid": "j", "controller": true}, %s]}}
                                """
                                        .formatted(
                                                many(10_000, "\"l%d\": \"\""),
                                                many(10_000, "\"a%d\": \"\""),
                                                many(10_000, "\"f/%d\""),
                                                many(10_000, "{\"uid\": \"%d\"}")))
                        .getMetadata();

        assertThat(metadata.toString()).hasSizeLessThan(2_000);
        assertThat(metadata.getUid()).isEqualTo("u");
        assertThat(metadata.getLabels()).containsOnlyKeys("gpusharing.io/metered");
        assertThat(metadata.getAnnotations()).containsOnly(entry("gpusharing.io/budget", "team-a"));
        assertThat(metadata.getOwnerReferences()).extracting("uid").containsExactly("j");
    }

    @Test
    void aPodWithAsManyLabelsAsUsualKeepsThem() {
        Pod pod = read(Pod.class, "{\"metadata\": {\"labels\": {\"app\": \"web\", \"x\": \"\"}}}");

        assertThat(pod.getMetadata().getLabels()).containsOnlyKeys("app", "x");
    }

    @Test
    void whoElseCouldHaveGoneIsNotKeptOfAnEviction() {
        GpuEviction eviction =
                read(
                        GpuEviction.class,
                        """
                        {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuEviction", "metadata": {"name": "e"},
                         "spec": {"cause": "Reclaim", "node": "n", "later": true, "victims": [],
                           "considered": {"spared": {"it is small": 7}, "nearest": []}},
                         "status": {"phase": "Refused", "refusedSince": "2026-03-02T10:00:00Z"}}
                        """);

        assertThat(eviction.getSpec().considered()).isNull();
        assertThat(eviction.getSpec().node()).isEqualTo("n");
        assertThat(eviction.phase()).isEqualTo(GpuEviction.Phase.Refused);
        assertThat(LeanObjects.serialization().asJson(eviction)).doesNotContain("considered");
    }

    @Test
    void aDisruptionBudgetsEndlessSelectorIsNotKeptAndGuardsAll() {
        PodDisruptionBudget budget =
                read(
                        PodDisruptionBudget.class,
                        """
                        {"metadata": {"name": "b", "namespace": "lab", "uid": "u", "annotations": {%1$s}, "labels": {%1$s}},
                         "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": [%2$s]}]}},
                         "status": {"disruptionsAllowed": 1, "disruptedPods": {%1$s}}}
                        """
                                .formatted(many(10_000, "\"k%d\": \"\""), many(10_000, "\"v%d\"")));

        assertThat(budget.toString()).hasSizeLessThan(2_000);
        assertThat(budget.getMetadata().getUid()).isEqualTo("u");
        assertThat(LabelMatch.matches(budget.getSpec().getSelector(), Map.of())).isTrue();
        assertThat(budget.getStatus().getDisruptionsAllowed()).isEqualTo(1);
    }

    @Test
    void aDisruptionBudgetIsReadAsItIs() {
        PodDisruptionBudget budget =
                read(
                        PodDisruptionBudget.class,
                        """
                        {"metadata": {"name": "b"},
                         "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}},
                         "status": {"disruptedPods": {"p": "2026-11-26T12:00:00Z"}}}
                        """);

        assertThat(LabelMatch.matches(budget.getSpec().getSelector(), Map.of("app", "a"))).isTrue();
        assertThat(LabelMatch.matches(budget.getSpec().getSelector(), Map.of())).isFalse();
        assertThat(budget.getStatus().getDisruptedPods()).containsOnlyKeys("p");
    }

    @Test
    void whatDecidesAboutAPlaceIsRead() {
        assertThat(PLACED.getMetadata().getAnnotations()).hasSize(2);
        assertThat(PLACED.getSpec().getNodeSelector()).hasSize(1);
        assertThat(PLACED.getSpec().getTolerations()).hasSize(1);
        assertThat(PLACED.getSpec().getAffinity().getPodAntiAffinity()).isNotNull();
        assertThat(PLACED.getSpec().getContainers().getFirst().getPorts()).hasSize(1);
    }

    @Test
    void unusedFieldsTakeNoMemory() {
        assertThat(PLACED.getMetadata().getManagedFields()).isEmpty();
        assertThat(PLACED.getSpec().getVolumes()).isEmpty();
        assertThat(PLACED.getSpec().getContainers().getFirst().getEnv()).isEmpty();
        assertThat(PLACED.getSpec().getContainers().getFirst().getVolumeMounts()).isEmpty();
    }

    @Test
    void aBoundPodSaysNothingOfOtherNodes() {
        Pod bound =
                read(
                        Pod.class,
                        WAITING.replace("\"priority\"", "\"nodeName\": \"n\", \"priority\""));

        assertThat(bound.getSpec().getNodeSelector()).isEmpty();
        assertThat(bound.getSpec().getTolerations()).isEmpty();
        assertThat(bound.getSpec().getAffinity().getPodAntiAffinity()).isNotNull();
    }

    @Test
    void aPodThatSaysTooMuchOfItsPlaceIsKnownByThat() {
        Pod pod =
                read(
                        Pod.class,
                        "{\"spec\": {\"tolerations\": [%s]}}"
                                .formatted(many(1_000, "{\"key\": \"k%d\"}")));

        assertThat(SchedulingConstraints.of(pod.getSpec()))
                .isEqualTo(SchedulingConstraints.TOO_MUCH);
    }

    @Test
    void ofANodeOnlyWhatPlacesPodsIsKept() {
        Node node =
                read(
                        Node.class,
                        """
                        {"metadata": {"name": "n", "uid": "u", "labels": {"zone": "a"},
                           "annotations": {"hami.io/node-nvidia-register": "[]", "csi.volume": "{}"}},
                         "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
                         "status": {"allocatable": {"cpu": "8"}, "capacity": {"cpu": "9"}, "images": [{"names": ["a"]}],
                           "nodeInfo": {"kernelVersion": "6"}}}
                        """);

        assertThat(node.getMetadata().getAnnotations())
                .containsOnlyKeys("hami.io/node-nvidia-register");
        assertThat(node.getMetadata().getLabels()).containsEntry("zone", "a");
        assertThat(node.getSpec().getTaints()).hasSize(1);
        assertThat(node.getSpec().getUnschedulable()).isTrue();
        assertThat(node.getSpec().getPodCIDR()).isNull();
        assertThat(node.getStatus().getAllocatable()).hasSize(1);
        assertThat(node.getStatus().getCapacity()).hasSize(1);
        assertThat(node.getStatus().getImages()).isEmpty();
        assertThat(node.getStatus().getNodeInfo()).isNull();
    }

    @Test
    void ofANamespaceOnlyOurAnnotationsAreKept() {
        Namespace namespace =
                read(
                        Namespace.class,
                        """
                        {"metadata": {"name": "n", "labels": {"a": "b"}, "annotations":
                           {"gpusharing.io/do-not-reclaim": "true", "other": "x"}}, "spec": {"finalizers": ["kubernetes"]}}
                        """);

        assertThat(namespace.getMetadata().getName()).isEqualTo("n");
        assertThat(namespace.getMetadata().getAnnotations())
                .containsOnly(entry("gpusharing.io/do-not-reclaim", "true"));
        assertThat(namespace.getSpec()).isNull();
    }
}
