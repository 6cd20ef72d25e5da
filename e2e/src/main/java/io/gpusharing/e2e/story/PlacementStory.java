package io.gpusharing.e2e.story;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InstalledServices;
import io.gpusharing.e2e.installation.PlacingScheduler;
import io.gpusharing.e2e.installation.SimulatedDevicePlugin;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;

/**
 * What changes when GPUSharing hands out the fractions itself: each pod has one physical GPU. It
 * goes on where {@link Story} ends, with a team that is over budget and one that is not, on nodes
 * that are simulated.
 */
public final class PlacementStory {

    private static final List<String> NODES = List.of("gpu-node-1", "gpu-node-2");
    private static final int GPUS = 2;
    private static final String INDEX = "tencent.com/predicate-gpu-idx-0";
    private static final String TABLE =
            "custom-columns=TEAM:.metadata.namespace,POD:.metadata.name,"
                    + "CORE:.spec.containers[0].resources.limits.tencent\\.com/vcuda-core,"
                    + "NODE:.spec.nodeName,GPU:.metadata.annotations.tencent\\.com/predicate-gpu-idx-0";

    private final TestCluster cluster;
    private final InstalledServices services;
    private final Narrator narrator;
    private final ClusterSnapshot snapshot;
    private final CompletableFuture<PlacingScheduler> scheduler;

    /** Lets our scheduler start, which takes a while; it is waited for where it is needed. */
    public PlacementStory(TestCluster cluster, InstalledServices services, Narrator narrator) {
        this.cluster = cluster;
        this.services = services;
        this.narrator = narrator;
        this.snapshot = new ClusterSnapshot(cluster, narrator);
        this.scheduler = CompletableFuture.supplyAsync(() -> PlacingScheduler.installed(cluster));
    }

    /** All of it. */
    public void whole() {
        aLabelMakesANodeOurs();
        twoHalvesShareAGpu();
        whatIsFreeOnTwoGpusIsNoRoom();
        theRightOneGivesWay();
    }

    /** Step 9: from the label on, GPUs are handed out one by one. */
    public void aLabelMakesANodeOurs() {
        narrator.step("9. GPU by GPU");
        narrator.say(
                "So far fractions were counted per node. The teams' pods go, and both nodes become ours:");
        snapshot.kubectl(
                        "delete",
                        "pods",
                        "--all-namespaces",
                        "--selector=gpusharing.io/metered=true")
                .orFail();
        snapshot.succeeds(
                "label", "nodes", NODES.get(0), NODES.get(1), "gpusharing.io/gpus=shared");
        NODES.forEach(node -> SimulatedDevicePlugin.describe(cluster, node, GPUS));
        scheduler.join();
        assertThat(snapshot.succeeds("get", "gpunodes"))
                .contains(NODES.get(0), NODES.get(1), "TimeSlice");
        patiently("pods get our scheduler")
                .until(
                        () ->
                                snapshot.kubectl(
                                                "create",
                                                "--dry-run=server",
                                                "-f",
                                                "e2e/story/sixty.yaml",
                                                "-o",
                                                "jsonpath={.spec.schedulerName}")
                                        .orFail(),
                        // Before it there may be a warning of their budget.
                        answer -> answer.endsWith("gpusharing-scheduler"));
    }

    /** Step 10: a GPU that is begun is filled before the next. */
    public void twoHalvesShareAGpu() {
        narrator.step("10. Two halves on one GPU");
        snapshot.succeeds("create", "-f", "e2e/story/halves.yaml");
        snapshot.running("team-b", "left");
        snapshot.running("team-b", "right");
        snapshot.succeeds("get", "pods", "-n", "team-b", "-o", TABLE);

        assertThat(gpuOf("team-b", "right")).isEqualTo(gpuOf("team-b", "left"));
    }

    /** Step 11: a pod that fits only in sum is not placed, and is told the truth. */
    public void whatIsFreeOnTwoGpusIsNoRoom() {
        narrator.step("11. Forty here and forty there are not sixty");
        snapshot.succeeds("create", "-f", "e2e/story/parts.yaml");
        parts().forEach(part -> snapshot.running("team-a", part));
        snapshot.succeeds("get", "pods", "-A", "-l", "gpusharing.io/metered=true", "-o", TABLE);
        String roomy =
                freeByNode().entrySet().stream()
                        .filter(node -> node.getValue() >= 60)
                        .map(node -> "%s has %d free".formatted(node.getKey(), node.getValue()))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no node has 60 free"));
        narrator.say("By the node's sum, which is all that kube-scheduler counts, " + roomy + ".");
        snapshot.succeeds("create", "-f", "e2e/story/fourth.yaml");
        narrator.say(
                "fourth would start there and fail. It waits instead; the timekeeper knows why:");
        String path = "/api/v1/pods/team-a/fourth/placement";
        JsonNode explanation =
                patiently("the timekeeper has seen that it waits")
                        .until(
                                () -> services.api().get(path),
                                it ->
                                        it.at("/room/decision")
                                                .asText()
                                                .equals("WAITER_OVER_BUDGET"));
        narrator.command(services.api().curl(path), inShort(explanation));
        assertThat(gpuOf("team-a", "fourth")).isEmpty();
        assertThat(explanation.path("summary").asText()).contains("No single GPU has 60 of 100");
        assertThat(explanation.at("/nodes/onlyInSum").asInt()).isPositive();
    }

    /** Step 12: who is over budget gives way, where that helps and nowhere else. */
    public void theRightOneGivesWay() {
        narrator.step("12. The right one gives way");
        Map<String, String> before =
                parts().collect(Collectors.toMap(it -> it, it -> gpuOf("team-a", it)));
        narrator.say("team-b is in budget and asks for 60, too:");
        snapshot.succeeds("create", "-f", "e2e/story/sixty.yaml");
        snapshot.running("team-b", "sixty");
        patiently("one is gone").until(() -> gone().size(), size -> size > 0);
        List<String> gone = gone();
        snapshot.succeeds("get", "pods", "-A", "-l", "gpusharing.io/metered=true", "-o", TABLE);

        assertThat(gone).as("one had to go").hasSize(1);
        assertThat(gpuOf("team-b", "sixty")).isEqualTo(before.get(gone.getFirst()));
        narrator.say(
                "%s was over budget, and its GPU is enough. Nobody else went."
                        .formatted(gone.getFirst()));
        narrator.say("fourth still waits. After ten seconds its own status says why:");
        patiently("fourth is told why").until(() -> !whyItWaits("fourth").isEmpty());
        assertThat(
                        snapshot.succeeds(
                                "get",
                                "pod",
                                "fourth",
                                "-n",
                                "team-a",
                                "-o",
                                "jsonpath={.status.conditions[?(@.type==\"gpusharing.io/Placement\")].message}"))
                .contains("no single GPU has 60 of 100", "40 of 100");
    }

    /** Without the details of each GPU. */
    private static String inShort(JsonNode explanation) {
        var some = new LinkedHashMap<String, JsonNode>();
        for (String field : List.of("summary", "nodes", "room")) {
            some.put(field, explanation.path(field));
        }
        return new ObjectMapper().valueToTree(some).toPrettyString() + "\n…";
    }

    private static Stream<String> parts() {
        return Stream.of("part-1", "part-2", "part-3");
    }

    private List<String> gone() {
        return parts().filter(part -> snapshot.pod("team-a", part) == null).toList();
    }

    private String gpuOf(String namespace, String name) {
        Pod pod = requireNonNull(snapshot.pod(namespace, name), name);
        String index = pod.getMetadata().getAnnotations().get(INDEX);
        return index == null ? "" : pod.getSpec().getNodeName() + " " + index;
    }

    private String whyItWaits(String name) {
        return requireNonNull(snapshot.pod("team-a", name), name)
                .getStatus()
                .getConditions()
                .stream()
                .filter(condition -> condition.getType().equals("gpusharing.io/Placement"))
                .map(condition -> condition.getMessage())
                .findFirst()
                .orElse("");
    }

    private Map<String, Long> freeByNode() {
        var free = new TreeMap<String, Long>();
        NODES.forEach(node -> free.put(node, 100L * GPUS));
        for (Pod pod : cluster.client().pods().inAnyNamespace().list().getItems()) {
            var limits = pod.getSpec().getContainers().getFirst().getResources().getLimits();
            var core = limits == null ? null : limits.get("tencent.com/vcuda-core");
            if (core != null && pod.getSpec().getNodeName() != null) {
                free.merge(
                        pod.getSpec().getNodeName(), -Long.parseLong(core.getAmount()), Long::sum);
            }
        }
        return free;
    }

    private static ConditionFactory patiently(String what) {
        return await(what)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptionsMatching(e -> !(e instanceof AssertionError));
    }
}
