package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * The {@code GpuNode} of a simulated node, as its device plugin would write it.
 *
 * @param client of somebody who may write it: the policy of an installation leaves it to the device
 *     plugin of that node
 * @param node name of the node
 * @param gpus how many GPUs it has, each of {@value #MEMORY_MIB} MiB
 * @param tier how those who share one are kept apart
 */
public record SimulatedGpuNode(KubernetesClient client, String node, int gpus, String tier) {

    /** Of each GPU. */
    public static final int MEMORY_MIB = 15_360;

    private static final String API = "gpusharing.io/v1alpha1";
    private static final String KIND = "GpuNode";

    /** One on which all take turns. */
    public SimulatedGpuNode(KubernetesClient client, String node, int gpus) {
        this(client, node, gpus, "TimeSlice");
    }

    /** Writes it for the first time, with nobody who holds anything. */
    public void create() {
        create(Map.of());
    }

    /**
     * Writes it for the first time.
     *
     * @param grants by the UUID of the GPU
     */
    public void create(Map<String, List<Map<String, Object>>> grants) {
        var gpuNode = new GenericKubernetesResource();
        gpuNode.setApiVersion(API);
        gpuNode.setKind(KIND);
        gpuNode.setMetadata(new ObjectMetaBuilder().withName(node).build());
        client.genericKubernetesResources(API, KIND).resource(gpuNode).create();
        grant(grants);
    }

    /**
     * Writes who holds what.
     *
     * @param grants by the UUID of the GPU
     */
    public void grant(Map<String, List<Map<String, Object>>> grants) {
        List<Map<String, Object>> all =
                IntStream.range(0, gpus).mapToObj(index -> gpu(index, grants)).toList();
        client.genericKubernetesResources(API, KIND)
                .withName(node)
                .editStatus(gpuNode -> {
                    gpuNode.setAdditionalProperty(
                            "status",
                            Map.of(
                                    "tier",
                                    tier,
                                    "resources",
                                    List.of("tencent.com/vcuda-core", "tencent.com/vcuda-memory"),
                                    "gpuCount",
                                    gpus,
                                    "unhealthyCount",
                                    0,
                                    "gpus",
                                    all));
                    return gpuNode;
                });
    }

    private Map<String, Object> gpu(int index, Map<String, List<Map<String, Object>>> grants) {
        String uuid = "%s-gpu-%d".formatted(node, index);
        List<Map<String, Object>> entries = grants.getOrDefault(uuid, List.of());
        return Map.of(
                "uuid",
                uuid,
                "index",
                index,
                "model",
                "Simulated GPU",
                "memoryMiB",
                MEMORY_MIB,
                "mig",
                false,
                "health",
                "Healthy",
                "mode",
                mode(entries),
                "grants",
                entries);
    }

    private static String mode(List<Map<String, Object>> entries) {
        if (entries.isEmpty()) {
            return "Idle";
        }
        return Objects.equals(entries.getFirst().get("core"), 100L) ? "Whole" : "Shared";
    }
}
