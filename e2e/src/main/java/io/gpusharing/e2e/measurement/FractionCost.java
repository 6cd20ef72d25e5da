package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/**
 * What our device plugin costs a node: how long a kubelet waits for its answer before a container
 * starts, when many pods come at once; its memory and processor time; and how soon it is registered
 * after its start. The same rounds of pods without GPUs, which admission leaves alone, are the
 * floor. All images are on the nodes.
 */
public final class FractionCost {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int ROUNDS = Integer.getInteger("rounds", 25);
    private static final int PODS = Integer.getInteger("pods", 20);
    private static final int GPUS = Integer.getInteger("gpus", 8);
    private static final int REST_SECONDS = Integer.getInteger("rest", 60);
    private static final String NODE = "gpu-node-1";
    private static final String OURS = "team-a";
    private static final String ALONE = "kube-system";
    private static final String FRACTION =
            "tencent.com/vcuda-core: 10, tencent.com/vcuda-memory: 1";
    private static final int ONE_AT_A_TIME = 40;
    private static final Pattern STARTS =
            Pattern.compile("gpusharing_container_start_seconds_bucket\\{le=\"([^\"]+)\"} (\\d+)");

    private final TestCluster cluster;
    private final HttpClient http = HttpClient.newHttpClient();

    private FractionCost(TestCluster cluster) {
        this.cluster = cluster;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path dir = Repository.root().resolve(".run/node/cluster");
        try (TestCluster cluster = TestCluster.start(dir, Map.of("GPUS", Integer.toString(GPUS)))) {
            InClusterInstallation.on(cluster);
            cluster.createNamespace(OURS);
            ObjectNode result = new FractionCost(cluster).measure();
            System.out.println(result.toPrettyString());
            if (arguments.length > 0) {
                Files.writeString(Path.of(arguments[0]), result.toPrettyString() + "\n");
            }
        }
    }

    private ObjectNode measure() throws IOException, InterruptedException {
        cluster.kubectl().run("label", "node", NODE, "gpusharing.io/gpus=shared").orFail();
        Awaitility.await("the device plugin is ready")
                .atMost(Duration.ofSeconds(90))
                .until(() -> !plugin("{.items[0].status.podIP}").isEmpty() && isReady());
        ObjectNode result = JSON.createObjectNode();
        result.put("when", Instant.now().toString());
        result.put("kubernetes", cluster.client().getKubernetesVersion().getGitVersion());
        result.put("processors", Runtime.getRuntime().availableProcessors());
        result.put("gpus", GPUS);
        result.put("pods_at_once", PODS);
        result.put("rounds", ROUNDS);
        result.put("start_to_registered_ms", untilRegistered().toMillis());
        result.put("resident_mib_at_start", residentMiB());

        round(1, OURS, FRACTION);
        Map<String, Long> first = starts();
        for (int pod = 0; pod < ONE_AT_A_TIME; pod++) {
            round(1, OURS, FRACTION);
        }
        put(result.putObject("one_at_a_time_answered_within_seconds"), starts(), first);

        var ours = new ArrayList<Duration>();
        var alone = new ArrayList<Duration>();
        Map<String, Long> together = starts();
        Duration before = processorTime();
        for (int round = 0; round < ROUNDS; round++) {
            ours.add(round(PODS, OURS, FRACTION));
            alone.add(round(PODS, ALONE, ""));
        }
        Percentiles.write(result.putObject("round_with_fractions"), ours);
        Percentiles.write(result.putObject("round_without_gpus"), alone);
        put(result.putObject("answered_within_seconds"), starts(), together);
        result.put(
                "processor_ms_a_pod",
                processorTime().minus(before).toMillis() / ((long) ROUNDS * PODS));
        result.put("resident_mib_after", residentMiB());
        result.put("processor_percent_at_rest", processorPercentAtRest());
        result.put("restart_to_registered_ms", restart().toMillis());
        return result;
    }

    /** From the creation of all pods until all of them run. */
    private Duration round(int count, String namespace, String limits) {
        String pods =
                IntStream.range(0, count)
                        .mapToObj(i -> pod(i, namespace, limits))
                        .collect(Collectors.joining());
        long begun = System.nanoTime();
        cluster.kubectl().pipe(pods, "create", "-f", "-").orFail();
        cluster.kubectl()
                .run(
                        "wait",
                        "--for=condition=Ready",
                        "pods",
                        "--selector=round=now",
                        "--namespace=" + namespace,
                        "--timeout=180s")
                .orFail();
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        cluster.kubectl()
                .run("delete", "pods", "--selector=round=now", "--namespace=" + namespace)
                .orFail();
        return took;
    }

    private static String pod(int number, String namespace, String limits) {
        return """
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: pod-%d, namespace: %s, labels: {round: now}}
        spec:
          nodeSelector: {kubernetes.io/hostname: gpu-node-1}
          terminationGracePeriodSeconds: 0
          containers:
            - name: cuda
              image: nvidia/cuda:13.0.1-base-ubuntu24.04
              command: [sh, -c, "while :; do sleep 1; done"]
              resources: {limits: {%s}}
        """
                .formatted(number, namespace, limits);
    }

    private String plugin(String path) {
        return cluster.kubectl()
                .run(
                        "get",
                        "pods",
                        "--namespace=gpusharing-system",
                        "--selector=app.kubernetes.io/component=device-plugin",
                        "--output=jsonpath=" + path)
                .text();
    }

    private boolean isReady() {
        return plugin("{.items[0].status.conditions[?(@.type=='Ready')].status}").equals("True");
    }

    private static void put(ObjectNode target, Map<String, Long> counts, Map<String, Long> before) {
        counts.forEach((bound, count) -> target.put(bound, count - before.getOrDefault(bound, 0L)));
    }

    /** How many starts the plugin has answered within so many seconds since it began. */
    private Map<String, Long> starts() throws IOException, InterruptedException {
        String page =
                http.send(
                                HttpRequest.newBuilder(
                                                URI.create(
                                                        "http://%s:9402/metrics"
                                                                .formatted(
                                                                        plugin(
                                                                                "{.items[0].status.podIP}"))))
                                        .build(),
                                BodyHandlers.ofString())
                        .body();
        var starts = new LinkedHashMap<String, Long>();
        STARTS.matcher(page)
                .results()
                .forEach(it -> starts.put(it.group(1), Long.valueOf(it.group(2))));
        return starts;
    }

    /** From the process' start, in hundredths of a second, to what its log says. */
    private Duration untilRegistered() {
        String log =
                cluster.kubectl()
                        .run(
                                "logs",
                                "--namespace=gpusharing-system",
                                "--selector=app.kubernetes.io/component=device-plugin",
                                "--tail=-1")
                        .orFail();
        Matcher line = Pattern.compile("(?m)^(\\S+) .* registered with the kubelet$").matcher(log);
        if (!line.find()) {
            throw new IllegalStateException(
                    "The plugin does not say that it is registered: " + log);
        }
        return Duration.between(
                process().info().startInstant().orElseThrow(), Instant.parse(line.group(1)));
    }

    /** Killed while the node is at rest: how soon its successor is registered. */
    private Duration restart() {
        ProcessHandle old = process();
        old.destroyForcibly();
        Awaitility.await("the device plugin is registered again")
                .atMost(Duration.ofSeconds(90))
                // Until then its log is the old one's, or has no such line.
                .ignoreExceptions()
                .until(() -> process().pid() != old.pid() && untilRegistered().isPositive());
        return untilRegistered();
    }

    private static ProcessHandle process() {
        return PluginProcess.find()
                .orElseThrow(() -> new IllegalStateException("No device plugin runs here"));
    }

    private static long residentMiB() {
        return PluginProcess.lines(process(), "status")
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }

    private static double processorPercentAtRest() throws InterruptedException {
        Duration before = processorTime();
        TimeUnit.SECONDS.sleep(REST_SECONDS);
        Duration used = processorTime().minus(before);
        double share = (double) used.toMillis() / Duration.ofSeconds(REST_SECONDS).toMillis();
        return Math.round(share * 10_000) / 100.0;
    }

    private static Duration processorTime() {
        return process().info().totalCpuDuration().orElseThrow();
    }
}
