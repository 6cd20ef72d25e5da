package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.NodeAgent;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.SimulatedDevicePlugin;
import io.gpusharing.e2e.installation.SimulatedGpuNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.awaitility.core.ConditionFactory;

/**
 * A control plane with all services of ours, whose two nodes of two GPUs each the scheduler hands
 * out, and teams whose budgets are used up. Reclaim waits for two seconds instead of a minute, and
 * who holds too much memory goes after a second.
 */
record EvictingCluster(
        TestCluster cluster, Installation installation, PlacingScheduler scheduler, Api api)
        implements AutoCloseable {

    static final List<String> NODES = List.of("gpu-node-1", "gpu-node-2");

    private static final String GROUP = "/apis/gpusharing.io/v1alpha1/";
    private static final String OURS = "system:serviceaccount:gpusharing-system:gpusharing-";
    private static final String WHOLE = "{tencent.com/vcuda-core: 100}";
    private static final String HALF = "{tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 30}";

    /** How long anything may take on a busy machine, also while a program starts anew. */
    static final Duration SOON = Duration.ofSeconds(90);

    private static final Map<String, String> PROPERTIES =
            Map.of(
                    "GPUSHARING_BUDGETS_STATUSREFRESH", "1s",
                    "GPUSHARING_BUDGETS_STATUSSPACING", "1s",
                    "GPUSHARING_PROVIDER_MEMORYOVERUSE_ACTION", "Evict",
                    "GPUSHARING_PROVIDER_MEMORYOVERUSE_AFTER", "1s");

    /**
     * @param name of the folder of its run
     */
    static EvictingCluster start(String name) {
        return TestCluster.start(
                Repository.root().resolve(".run/" + name),
                cluster -> {
                    var installation = Installation.on(cluster, PROPERTIES);
                    for (String node : NODES) {
                        cluster.kubectl()
                                .run("label", "node", node, "gpusharing.io/gpus=shared")
                                .orFail();
                        SimulatedDevicePlugin.describe(cluster, node, 2);
                    }
                    return new EvictingCluster(
                            cluster,
                            installation,
                            PlacingScheduler.installed(cluster),
                            new Api(cluster.client()));
                });
    }

    static ConditionFactory soon(String what) {
        return await(what)
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(200))
                // Whom it asks may be starting.
                .ignoreExceptionsMatching(e -> !(e instanceof AssertionError));
    }

    /** A namespace with a budget of its name; waits until pods are admitted by it. */
    void team(String name, String gpuMinutes) {
        cluster.createNamespace(name);
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '%s', onExhausted: Reclaim, minimumRunTime: 0s}}"
                                .formatted(name, gpuMinutes))
                .orFail();
        soon("the webhook knows the budget of " + name)
                .until(() ->
                        api.dryRun(name, manifest("first", "{}", WHOLE))
                                .orFail()
                                .at("/metadata/annotations/gpusharing.io~1standing")
                                .asText()
                                .equals("InBudget"));
    }

    void awaitUsedUp(String budget) {
        soon(budget + " is used up")
                .until(() ->
                        api.get(GROUP + "gpubudgets/" + budget)
                                .orFail()
                                .at("/status/standing")
                                .asText()
                                .equals("OverBudget"));
    }

    /** A pod that wants a GPU to itself. */
    void create(String namespace, String name) {
        api.create(namespace, manifest(name, "{}", WHOLE)).orFail();
    }

    /** A pod that wants half of a GPU and half of its memory. */
    void createHalf(String namespace, String name) {
        api.create(namespace, manifest(name, "{}", HALF)).orFail();
    }

    /** As {@link #create}, on one of the nodes. */
    void createOn(String node, String namespace, String name) {
        api.create(namespace, manifest(name, "{kubernetes.io/hostname: %s}".formatted(node), WHOLE))
                .orFail();
    }

    private static String manifest(String name, String nodeSelector, String share) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          nodeSelector: %s
          containers: [{name: cuda, image: cuda, resources: {limits: %s}}]
        """
                .formatted(name, nodeSelector, share);
    }

    JsonNode pod(String namespace, String name) {
        return api.get(Api.pod(namespace, name)).orFail();
    }

    void isBound(String namespace, String name) {
        soon(name + " is bound")
                .until(() -> !pod(namespace, name).at("/spec/nodeName").asText().isEmpty());
    }

    boolean isGone(String namespace, String name) {
        return api.get(Api.pod(namespace, name)).code() == 404;
    }

    /**
     * Has the device plugin of its node say that a container of a pod can never start again there.
     */
    void refuse(String namespace, String name) {
        JsonNode pod = pod(namespace, name);
        String node = pod.at("/spec/nodeName").asText();
        program("device-plugin")
                .on(node)
                .merge(
                        GROUP + "gpunodes/" + node + "/status",
                        "{status: {refused: [{podUid: %s, namespace: %s, pod: %s, since: '%s', final: true, ran: true, reason: It fits on no GPU of this node}]}}"
                                .formatted(
                                        pod.at("/metadata/uid").asText(),
                                        namespace,
                                        name,
                                        Api.condition(pod, "PodScheduled")
                                                .path("lastTransitionTime")
                                                .asText()))
                .orFail();
    }

    /**
     * Has the agent of its node report that a pod of half a GPU holds all of its memory, as agents
     * do again and again; where the timekeeper is not ready nobody hears of it.
     */
    void reportTooMuchMemory(JsonNode pod) {
        String node = pod.at("/spec/nodeName").asText();
        ObjectMeta agent = NodeAgent.podOn(cluster, node).orElseThrow().getMetadata();
        if (!installation.timekeeper().ready()) {
            return;
        }
        String token =
                cluster.kubectl()
                        .run(
                                "create",
                                "token",
                                "gpusharing-node-agent",
                                "--namespace=" + agent.getNamespace(),
                                "--audience=gpusharing-timekeeper",
                                "--bound-object-kind=Pod",
                                "--bound-object-name=" + agent.getName(),
                                "--bound-object-uid=" + agent.getUid())
                        .orFail();
        String report =
                """
                {"run": "%s", "sequence": %d, "meter": "Agent", "pods": [{"uid": "%s", "devices": []}],
                 "exceeded": [{"uid": "%3$s", "namespace": "%s", "pod": "%s", "device": "GPU-0",
                               "usedBytes": %d, "grantedBytes": %d}]}
                """
                        .formatted(
                                agent.getUid(),
                                System.currentTimeMillis(),
                                pod.at("/metadata/uid").asText(),
                                pod.at("/metadata/namespace").asText(),
                                pod.at("/metadata/name").asText(),
                                (long) SimulatedGpuNode.MEMORY_MIB << 20,
                                (long) SimulatedGpuNode.MEMORY_MIB << 19);
        assertThat(installation.api().report(token, report)).isIn(200, 503);
    }

    /** The API server as a program of ours sees it. */
    Api program(String name) {
        return api.as(
                OURS + name,
                "system:serviceaccounts",
                "system:serviceaccounts:gpusharing-system",
                "system:authenticated");
    }

    /** All {@code GpuEviction}s that have a pod of this name for a victim. */
    List<JsonNode> evictionsOf(String pod) {
        return items(api.get(GROUP + "gpuevictions").orFail().path("items"))
                .filter(eviction ->
                        items(eviction.at("/spec/victims"))
                                .anyMatch(it -> it.path("name").asText().equals(pod)))
                .toList();
    }

    /** What the timekeeper has kept of evictions of a namespace's pods. */
    List<JsonNode> receipts(String namespace) {
        return items(installation.api().get("/api/v1/evictions?limit=1000&namespace=" + namespace))
                .filter(it -> it.at("/victim/namespace").asText().equals(namespace))
                .toList();
    }

    static Stream<JsonNode> items(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
