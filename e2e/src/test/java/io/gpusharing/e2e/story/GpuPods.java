package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Pods of a team that have GPUs of real nodes, as somebody with kubectl sees them. */
final class GpuPods {

    /** How long anything takes at most. */
    static final Duration SOON = Duration.ofSeconds(90);

    private static final Pattern UUID = Pattern.compile("UUID: (GPU-[0-9a-f-]+)");

    private static final String CUDA = "nvidia/cuda:13.0.1-base-ubuntu24.04";

    private final TestCluster cluster;
    private final Api api;
    private final String team;
    private final String image;

    GpuPods(TestCluster cluster, Api api, String team) {
        this(cluster, api, team, CUDA);
    }

    /**
     * Those of another image than {@link #manifest} names.
     *
     * @param image with a shell
     */
    GpuPods(TestCluster cluster, Api api, String team, String image) {
        this.cluster = cluster;
        this.api = api;
        this.team = team;
        this.image = image;
    }

    /**
     * A pod of one container, which ends when its first process is told to.
     *
     * @param limits of its container, in YAML
     */
    static String manifest(String name, String limits) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          containers:
          - name: cuda
            image: %s
            command: [sh, -c, "trap 'exit 1' TERM; while :; do sleep 1; done"]
            resources: {limits: {%s}}
        """
                .formatted(name, CUDA, limits);
    }

    /** A manifest with this team's image in the place of NVIDIA's. */
    String ofItsImage(String manifest) {
        return manifest.replace(CUDA, image);
    }

    /** Makes one, and waits for nothing. */
    void create(String name, String limits) {
        api.create(team, ofItsImage(manifest(name, limits))).orFail();
    }

    /** Makes one; the only GPU that it sees once it runs. */
    String gpuOfNew(String name, String limits) {
        create(name, limits);
        return gpuOf(name);
    }

    /** The only GPU that a pod sees, once it runs. */
    String gpuOf(String name) {
        List<String> seen = seenBy(name);
        assertThat(seen).hasSize(1);
        return seen.getFirst();
    }

    /** What nvidia-smi in the pod's container says, once it runs. */
    List<String> seenBy(String name) {
        await(name + " runs")
                .atMost(SOON)
                .untilAsserted(() ->
                        assertThat(
                                        pod(name)
                                                .at("/status/containerStatuses/0/state/running")
                                                .isMissingNode())
                                .as(() -> eventsOf(name))
                                .isFalse());
        return UUID.matcher(exec(name, "nvidia-smi", "-L"))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    JsonNode pod(String name) {
        return api.get(Api.pod(team, name)).orFail();
    }

    String exec(String name, String... command) {
        var words = new ArrayList<>(List.of("exec", name, "--container=cuda", "--"));
        words.addAll(List.of(command));
        return kubectl(words.toArray(String[]::new));
    }

    /** How often its container was started again. */
    int restarts(String name) {
        return pod(name).at("/status/containerStatuses/0/restartCount").asInt();
    }

    /** Ends its container. */
    void killFirstProcess(String name) {
        exec(name, "sh", "-c", "kill 1");
    }

    String eventsOf(String name) {
        return kubectl("get", "events", "--field-selector=involvedObject.name=" + name);
    }

    /** In the team's namespace. */
    String kubectl(String... words) {
        var command = new ArrayList<>(List.of(words));
        command.add(1, "--namespace=" + team);
        return cluster.kubectl().run(command.toArray(String[]::new)).orFail();
    }

    /** What GpuNodes say: pod, container, hundredths of processors, MiB. */
    List<String> grants() {
        return stream(api.get("/apis/gpusharing.io/v1alpha1/gpunodes").orFail().path("items"))
                .flatMap(node -> stream(node.at("/status/gpus")))
                .flatMap(gpu -> stream(gpu.path("grants")))
                .map(grant ->
                        "%s %s %s %s"
                                .formatted(
                                        grant.path("pod").asText(),
                                        grant.path("container").asText(),
                                        grant.path("core").asText(),
                                        grant.path("memoryMiB").asText()))
                .toList();
    }

    private static Stream<JsonNode> stream(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }
}
