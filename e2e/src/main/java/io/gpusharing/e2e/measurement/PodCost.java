package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * What we cost a pod: the time from its binding to the first instruction of its own container, and
 * the size of its object, with and without us. Pods come one after the other, in turns: one in a
 * namespace of ours, with webhook and sidecar, and the same one in {@code kube-system}, which
 * admission leaves alone. All images are on the nodes.
 */
public final class PodCost {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PODS = Integer.getInteger("pods", 30);
    private static final String OURS = "team-a";
    private static final String ALONE = "kube-system";
    private static final String POD =
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: %s, namespace: %s}
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
                - name: cuda
                  image: nvidia/cuda:12.6.3-base-ubuntu24.04
                  command: [sh, -c, "cut -d ' ' -f 1 /proc/uptime >/dev/termination-log"]
                  resources:
                    limits: {tencent.com/vcuda-core: 10, tencent.com/vcuda-memory: 1}
            """;

    private final TestCluster cluster;

    private PodCost(TestCluster cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] arguments) throws IOException {
        Path dir = Repository.root().resolve(".run/node/cluster");
        try (TestCluster cluster = TestCluster.start(dir)) {
            InClusterInstallation.on(cluster);
            cluster.createNamespace(OURS);
            ObjectNode result = new PodCost(cluster).measure();
            System.out.println(result.toPrettyString());
            if (arguments.length > 0) {
                Files.writeString(Path.of(arguments[0]), result.toPrettyString() + "\n");
            }
        }
    }

    private ObjectNode measure() throws IOException {
        var ours = new ArrayList<Duration>();
        var alone = new ArrayList<Duration>();
        start(OURS, "warm-up");
        start(ALONE, "warm-up");
        for (int i = 0; i < PODS; i++) {
            ours.add(start(OURS, "pod-" + i));
            alone.add(start(ALONE, "pod-" + i));
        }
        ObjectNode result = JSON.createObjectNode();
        result.put("when", Instant.now().toString());
        result.put("kubernetes", cluster.client().getKubernetesVersion().getGitVersion());
        result.put("pods", PODS);
        summarize(result.putObject("with_us"), ours, size(OURS));
        summarize(result.putObject("without_us"), alone, size(ALONE));
        return result;
    }

    /** From the API server's answer to the binding to the container's first instruction. */
    private Duration start(String namespace, String name) throws IOException {
        cluster.kubectl().pipe(POD.formatted(name, namespace), "create", "-f", "-").orFail();
        var pod = new JsonNode[1];
        Awaitility.await(namespace + "/" + name + " has ended")
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    pod[0] = get(namespace, name);
                    return pod[0].at("/status/phase").asText().equals("Succeeded");
                });
        String uptime =
                pod[0].at("/status/containerStatuses/0/state/terminated/message").asText().strip();
        Duration cost = Duration.between(bound(pod[0]), atUptime(uptime));
        cluster.kubectl().run("delete", "pod", name, "--namespace=" + namespace).orFail();
        return cost;
    }

    private JsonNode get(String namespace, String name) throws IOException {
        return JSON.readTree(
                cluster.kubectl()
                        .run("get", "pod", name, "--namespace=" + namespace, "-o=json")
                        .orFail());
    }

    private Instant bound(JsonNode pod) throws IOException {
        String uid = pod.at("/metadata/uid").asText();
        try (Stream<String> lines = Files.lines(cluster.auditLog())) {
            for (String line : (Iterable<String>) lines.filter(it -> it.contains(uid))::iterator) {
                JsonNode event = JSON.readTree(line);
                if (event.at("/objectRef/subresource").asText().equals("binding")) {
                    return Instant.parse(event.path("stageTimestamp").asText());
                }
            }
        }
        throw new IllegalStateException("The audit log has no binding of " + uid);
    }

    /**
     * Containers and this process have one kernel, whose uptime is counted in hundredths of a
     * second.
     */
    private static Instant atUptime(String uptime) throws IOException {
        Instant now = Instant.now();
        String ours = Files.readString(Path.of("/proc/uptime")).split(" ", 2)[0];
        double ago = Double.parseDouble(ours) - Double.parseDouble(uptime);
        return now.minusMillis(Math.round(ago * 1000));
    }

    /** Bytes of a pod's JSON as the API server answers its creation. */
    private int size(String namespace) throws IOException {
        String created =
                cluster.kubectl()
                        .pipe(
                                POD.formatted("size", namespace),
                                "create",
                                "--dry-run=server",
                                "--show-managed-fields",
                                "-o=json",
                                "-f",
                                "-")
                        .orFail();
        return JSON.readTree(created).toString().getBytes(StandardCharsets.UTF_8).length;
    }

    private static void summarize(ObjectNode target, List<Duration> all, int bytes) {
        Percentiles.write(target, all);
        target.put("object_bytes", bytes);
        var each = target.putArray("each_ms");
        all.forEach(one -> each.add(one.toMillis()));
    }
}
