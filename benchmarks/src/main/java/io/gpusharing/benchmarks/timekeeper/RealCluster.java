package io.gpusharing.benchmarks.timekeeper;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A control plane of {@code tools/cluster}, whose kubelets are simulated, and kubectl. */
final class RealCluster implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int CLIENTS = 12;
    private static final String SERVING = "Starting to serve on ";

    private final Path dir;
    private final Path kubectl;
    private final Path answers;
    private final Process proxy;
    private final URI api;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /**
     * @param dir what {@code tools/cluster up} was given
     * @param tools where kubectl is
     * @param folder for answers and caches of kubectl
     */
    RealCluster(Path dir, Path tools, Path folder) throws IOException {
        this.dir = dir;
        this.kubectl = tools.resolve("kubectl");
        this.answers = folder;
        this.proxy =
                new ProcessBuilder(kubectl(List.of("proxy", "--port=0")))
                        .redirectErrorStream(true)
                        .start();
        BufferedReader said = proxy.inputReader(StandardCharsets.UTF_8);
        String line = said.readLine();
        if (line == null || !line.startsWith(SERVING)) {
            throw new IllegalStateException("kubectl proxy: " + line);
        }
        this.api = URI.create("http://" + line.substring(SERVING.length()));
    }

    Path kubeconfig() {
        return dir.resolve("kubeconfig");
    }

    /** Seconds of CPU that the API server has used. */
    double apiServerCpuSeconds() throws IOException {
        Path pid = dir.resolve("kwok/clusters/gpusharing/pids/kube-apiserver.pid");
        return ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
                        .orElseThrow()
                        .info()
                        .totalCpuDuration()
                        .orElse(Duration.ZERO)
                        .toMillis()
                / 1e3;
    }

    /**
     * What kubectl took.
     *
     * @param cpuSeconds of its own
     * @param lines of its answer
     */
    record Timed(double seconds, double cpuSeconds, long lines) {}

    /**
     * Runs kubectl as people do.
     *
     * @throws IllegalStateException if it fails
     */
    Timed kubectl(String... arguments) throws IOException, InterruptedException {
        Path answer = answers.resolve("answer");
        var command =
                new ArrayList<>(
                        List.of(
                                "bash",
                                "-c",
                                "TIMEFORMAT='%R %U %S'; time \"$@\" >\"$0\" 2>&1",
                                answer.toString()));
        command.addAll(kubectl(List.of(arguments)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String times = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(
                    "kubectl %s: %s"
                            .formatted(String.join(" ", arguments), Files.readString(answer)));
        }
        double[] said =
                Stream.of(times.strip().split(" ", -1)).mapToDouble(Double::parseDouble).toArray();
        try (Stream<String> lines = Files.lines(answer)) {
            return new Timed(said[0], said[1] + said[2], lines.count());
        }
    }

    private List<String> kubectl(List<String> arguments) {
        var command =
                new ArrayList<>(
                        List.of(
                                kubectl.toString(),
                                "--kubeconfig=" + kubeconfig(),
                                "--cache-dir=" + answers.resolve("cache")));
        command.addAll(arguments);
        return command;
    }

    /** Nodes, and for each team its namespace and its budget. */
    void prepare() throws IOException, InterruptedException, ExecutionException {
        all(
                MeteredPod.NODES,
                number ->
                        post(
                                "/api/v1/nodes",
                                """
                                {"metadata":{"name":"node-%d","annotations":{"kwok.x-k8s.io/node":"fake"},"labels":{"kubernetes.io/os":"linux"}},
                                "status":{"capacity":%2$s,"allocatable":%2$s}}
                                """
                                        .formatted(
                                                number,
                                                "{\"cpu\":\"2k\",\"memory\":\"8Ti\",\"pods\":\"250\",\"tencent.com/vcuda-core\":\"10000\",\"tencent.com/vcuda-memory\":\"6000\"}")));
        all(
                MeteredPod.TEAMS,
                number -> {
                    String team = "team-" + number;
                    post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"" + team + "\"}}");
                    post(
                            "/apis/gpusharing.io/v1alpha1/gpubudgets",
                            """
                            {"apiVersion":"gpusharing.io/v1alpha1","kind":"GpuBudget","metadata":{"name":"%s"},"spec":{"namespaces":["%1$s"],"gpuMinutes":"100000000"}}
                            """
                                    .formatted(team));
                    kubectl(
                            "wait",
                            "--for=create",
                            "serviceaccount/default",
                            "--namespace=" + team,
                            "--timeout=60s");
                });
    }

    /** Pods that are bound at once, as a scheduler binds them; their kubelets are simulated. */
    void bind(int from, int to) throws InterruptedException, ExecutionException {
        all(
                to - from,
                i -> {
                    MeteredPod pod = MeteredPod.of(from + i, Instant.now());
                    String pods = "/api/v1/namespaces/" + pod.namespace() + "/pods";
                    String name = post(pods, wanted(pod)).at("/metadata/name").asString();
                    post(
                            pods + "/" + name + "/binding",
                            """
                            {"apiVersion":"v1","kind":"Binding","metadata":{"name":"%s"},"target":{"apiVersion":"v1","kind":"Node","name":"%s"}}
                            """
                                    .formatted(name, pod.node()));
                });
    }

    /** Without what a cluster itself adds to a pod. */
    private static String wanted(MeteredPod pod) {
        ObjectNode object = (ObjectNode) JSON.readTree(pod.json(1, null, false, null));
        ((ObjectNode) object.path("metadata"))
                .remove(List.of("uid", "resourceVersion", "creationTimestamp", "managedFields"));
        ((ObjectNode) object.path("spec"))
                .remove(List.of("priorityClassName", "priority", "preemptionPolicy"))
                // Who binds it is us.
                .put("schedulerName", "nobody");
        object.remove("status");
        return object.toString();
    }

    private interface Work {
        void on(int number) throws IOException, InterruptedException;
    }

    /** Several at once. */
    private static void all(int count, Work work) throws InterruptedException, ExecutionException {
        try (var clients = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<?>> running = new ArrayList<>();
            IntStream.range(0, count)
                    .forEach(number ->
                            running.add(
                                    clients.submit(() -> {
                                        work.on(number);
                                        return null;
                                    })));
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    private JsonNode post(String path, String body) throws IOException, InterruptedException {
        HttpResponse<String> response =
                http.send(
                        HttpRequest.newBuilder(api.resolve(path))
                                .header("Content-Type", "application/json")
                                .POST(BodyPublishers.ofString(body))
                                .timeout(Duration.ofMinutes(1))
                                .build(),
                        BodyHandlers.ofString());
        if (response.statusCode() != 201) {
            throw new IllegalStateException(
                    "POST %s: %d %s".formatted(path, response.statusCode(), response.body()));
        }
        return JSON.readTree(response.body());
    }

    @Override
    public void close() {
        proxy.destroy();
    }
}
