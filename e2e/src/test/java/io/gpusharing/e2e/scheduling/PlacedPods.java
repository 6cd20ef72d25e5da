package io.gpusharing.e2e.scheduling;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.TestCluster;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Pods that name our scheduler, and where they were placed, by what is written on them alone. */
final class PlacedPods {

    private static final String PLACEMENT = "gpusharing.io/placement";
    private static final String CORE = "tencent.com/vcuda-core";

    private final TestCluster cluster;
    private final String namespace;

    PlacedPods(TestCluster cluster, String namespace) {
        this.cluster = cluster;
        this.namespace = namespace;
        cluster.createNamespace(namespace);
    }

    void create(String name, int core, int memory) {
        cluster.kubectl().pipe(manifest(name, core, memory), "create", "-f", "-").orFail();
    }

    String manifest(String name, int core, int memory) {
        String more = memory > 0 ? ", tencent.com/vcuda-memory: " + memory : "";
        return manifest(name, "%s: %d%s".formatted(CORE, core, more));
    }

    /** One that asks for GiB of gpushare's. */
    void createAliyun(String name, int gibibytes) {
        String manifest = manifest(name, "aliyun.com/gpu-mem: " + gibibytes);
        cluster.kubectl().pipe(manifest, "create", "-f", "-").orFail();
    }

    /** The same, of a budget. */
    void createAliyun(String name, int gibibytes, String budget) {
        String manifest =
                manifest(name, "aliyun.com/gpu-mem: " + gibibytes)
                        .replace(
                                "metadata: {",
                                "metadata: {annotations: {gpusharing.io/budget: %s}, "
                                        .formatted(budget));
        cluster.kubectl().pipe(manifest, "create", "-f", "-").orFail();
    }

    private String manifest(String name, String limits) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s, namespace: %s}
        spec:
          schedulerName: gpusharing-scheduler
          containers:
          - {name: cuda, image: cuda, resources: {limits: {%s}}}
        """
                .formatted(name, namespace, limits);
    }

    /** One of a priority class, whose label {@code app} is its name. */
    void create(String name, int core, String priorityClass) {
        String manifest =
                manifest(name, core, 1)
                        .replace("spec:", "spec:\n  priorityClassName: " + priorityClass)
                        .replace("metadata: {", "metadata: {labels: {app: %s}, ".formatted(name));
        cluster.kubectl().pipe(manifest, "create", "-f", "-").orFail();
    }

    /** One that is to share a GPU with all others of a group. */
    void createInGroup(String name, int core, String group) {
        createRequesting(name, core, "same-gpu: " + group);
    }

    /** One that is to go to the emptiest GPU. */
    void createSpread(String name, int core) {
        createRequesting(name, core, "strategy: Spread");
    }

    private void createRequesting(String name, int core, String request) {
        String manifest =
                manifest(name, core, 1)
                        .replace(
                                "metadata: {",
                                "metadata: {annotations: {request.gpusharing.io/%s}, "
                                        .formatted(request));
        cluster.kubectl().pipe(manifest, "create", "-f", "-").orFail();
    }

    /** One that kube-scheduler is not to place yet. */
    void createGated(String name) {
        String manifest =
                manifest(name, 60, 1).replace("spec:", "spec:\n  schedulingGates: [{name: later}]");
        cluster.kubectl().pipe(manifest, "create", "-f", "-").orFail();
    }

    String uid(String name) {
        return cluster.client()
                .pods()
                .inNamespace(namespace)
                .withName(name)
                .get()
                .getMetadata()
                .getUid();
    }

    void createAll(List<String> manifests) {
        cluster.kubectl().pipe(String.join("---\n", manifests), "create", "-f", "-").orFail();
    }

    void delete(String name) {
        cluster.kubectl()
                .run("delete", "pod", name, "--namespace=" + namespace, "--wait=false")
                .orFail();
    }

    void deleteAll() {
        cluster.kubectl()
                .run("delete", "pods", "--all", "--namespace=" + namespace, "--timeout=60s")
                .orFail();
    }

    /** The GPU of a pod with one; null while it waits. */
    @Nullable String gpuOf(String name) {
        Pod pod = cluster.client().pods().inNamespace(namespace).withName(name).get();
        return pod == null || pod.getSpec().getNodeName() == null ? null : gpus(pod).getFirst();
    }

    @Nullable String annotation(String name, String key) {
        Pod pod = cluster.client().pods().inNamespace(namespace).withName(name).get();
        return pod.getMetadata().getAnnotations().get(key);
    }

    /** What the API server says of why it waits. */
    String whyItWaits(String name) {
        Pod pod = cluster.client().pods().inNamespace(namespace).withName(name).get();
        return pod.getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("PodScheduled"))
                .map(condition -> String.valueOf(condition.getMessage()))
                .findFirst()
                .orElse("");
    }

    /** What the extender says of it: status, reason and message of its condition. */
    String placement(String name) {
        Pod pod = cluster.client().pods().inNamespace(namespace).withName(name).get();
        return pod.getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("gpusharing.io/Placement"))
                .map(condition ->
                        "%s %s %s"
                                .formatted(
                                        condition.getStatus(),
                                        condition.getReason(),
                                        condition.getMessage()))
                .findFirst()
                .orElse("");
    }

    /** The reasons of a pod's Events. */
    List<String> eventsOf(String name) {
        return cluster
                .client()
                .v1()
                .events()
                .inNamespace(namespace)
                .withField("involvedObject.uid", uid(name))
                .list()
                .getItems()
                .stream()
                .map(Event::getReason)
                .toList();
    }

    List<Pod> all() {
        return cluster.client().pods().inNamespace(namespace).list().getItems();
    }

    /** The names of those that are bound and have not ended. */
    Set<String> bound() {
        return all().stream()
                .filter(pod -> pod.getSpec().getNodeName() != null && !hasEnded(pod))
                .map(pod -> pod.getMetadata().getName())
                .collect(Collectors.toSet());
    }

    long waiting() {
        return all().stream().filter(pod -> pod.getSpec().getNodeName() == null).count();
    }

    /** The hundredths that pods hold of each GPU, all that are bound and have not ended. */
    Map<String, Long> held() {
        var held = new HashMap<String, Long>();
        for (Pod pod : all()) {
            if (pod.getSpec().getNodeName() == null || hasEnded(pod)) {
                continue;
            }
            long core = core(pod);
            List<String> gpus = gpus(pod);
            for (String gpu : gpus) {
                assertThat(gpu).as("a GPU of its node").startsWith(pod.getSpec().getNodeName());
                held.merge(gpu, core / gpus.size(), Long::sum);
            }
        }
        return held;
    }

    private static boolean hasEnded(Pod pod) {
        return List.of("Succeeded", "Failed").contains(pod.getStatus().getPhase());
    }

    /** The hundredths that a pod asks for. */
    static long core(Pod pod) {
        return Long.parseLong(
                requireNonNull(
                                pod.getSpec()
                                        .getContainers()
                                        .getFirst()
                                        .getResources()
                                        .getLimits()
                                        .get(CORE))
                        .getAmount());
    }

    private static List<String> gpus(Pod pod) {
        String placement =
                requireNonNull(
                        pod.getMetadata().getAnnotations().get(PLACEMENT), "a bound pod is placed");
        assertThat(placement).startsWith(pod.getMetadata().getUid() + ";cuda=");
        return Arrays.asList(placement.substring(placement.indexOf('=') + 1).split(",", -1));
    }
}
