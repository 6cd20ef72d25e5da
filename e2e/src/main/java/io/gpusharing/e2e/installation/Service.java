package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * One of our services as a process beside the cluster: the jar of its module, the environment that
 * the chart gives its container, the rights of its service account.
 */
public final class Service {

    private static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    private final TestCluster cluster;
    private final String name;
    private final List<String> command;
    private final Map<String, String> environment;
    private final int healthPort;
    private Program program;

    private Service(
            TestCluster cluster,
            String name,
            List<String> command,
            Map<String, String> environment,
            int healthPort) {
        this.cluster = cluster;
        this.name = name;
        this.command = command;
        this.environment = environment;
        this.healthPort = healthPort;
        this.program = launch();
    }

    /**
     * Starts it; {@link #awaitReady} waits until it answers.
     *
     * @param template the pod that the chart would run it in
     * @param here what differs outside a pod: ports, addresses, the database
     */
    static Service start(
            TestCluster cluster,
            String module,
            PodTemplateSpec template,
            int port,
            int healthPort,
            Map<String, String> here) {
        return start(cluster, module, module, template, port, healthPort, here);
    }

    /**
     * The same, one of several processes of a module.
     *
     * @param name how this one is called
     */
    static Service start(
            TestCluster cluster,
            String module,
            String name,
            PodTemplateSpec template,
            int port,
            int healthPort,
            Map<String, String> here) {
        return start(cluster, module, name, module, template, port, healthPort, here);
    }

    /**
     * The same of a module whose container is called otherwise.
     *
     * @param container its name in the chart
     */
    static Service start(
            TestCluster cluster,
            String module,
            String name,
            String container,
            PodTemplateSpec template,
            int port,
            int healthPort,
            Map<String, String> here) {
        String account = template.getSpec().getServiceAccountName();
        Path kubeconfig = ServiceAccountAccess.kubeconfig(cluster, Installation.NAMESPACE, account);
        var pod =
                new ObjectMetaBuilder(template.getMetadata())
                        .withName("gpusharing-" + module)
                        .withNamespace(Installation.NAMESPACE)
                        .build();
        var environment =
                new LinkedHashMap<>(
                        ContainerEnvironment.of(
                                container(template, container),
                                pod,
                                template.getSpec(),
                                cluster.client()));
        environment.put("KUBECONFIG", kubeconfig.toString());
        environment.put("SERVER_ADDRESS", "127.0.0.1");
        environment.put("SERVER_PORT", String.valueOf(port));
        environment.put("MANAGEMENT_SERVER_ADDRESS", "127.0.0.1");
        environment.put("MANAGEMENT_SERVER_PORT", String.valueOf(healthPort));
        // The API server keeps its connections, and stopping a webhook here waits for them.
        environment.put("GPUSHARING_ADMISSION_DRAIN", "1s");
        environment.putAll(here);
        return start(cluster, module, name, environment, healthPort);
    }

    /** The same for a module that the chart does not install yet, with all of its environment. */
    static Service start(
            TestCluster cluster,
            String module,
            String name,
            Map<String, String> environment,
            int healthPort) {
        return new Service(
                cluster,
                name,
                UnpackedService.command(module, cluster.dir().resolve("run")),
                environment,
                healthPort);
    }

    private static Container container(PodTemplateSpec template, String name) {
        return Stream.of(template.getSpec().getInitContainers(), template.getSpec().getContainers())
                .flatMap(List::stream)
                .filter(container -> container.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("The chart has no container " + name));
    }

    /**
     * Waits for {@code /readyz}; fails at once, with its last words, if the process ends instead.
     */
    public void awaitReady() {
        Awaitility.await(name + " is ready")
                .atMost(Duration.ofSeconds(90))
                .pollInterval(Duration.ofMillis(100))
                .failFast(() -> {
                    if (!program.runs()) {
                        throw new AssertionError(name + " ended:\n" + program.lastWords());
                    }
                })
                .until(this::ready);
    }

    /** Whether it would be sent traffic now. */
    public boolean ready() {
        return health("/readyz") == 200;
    }

    /** Whether kubelet would let it live. */
    public boolean live() {
        return program.runs() && health("/livez") == 200;
    }

    /** The parts of it whose rounds fail again and again; for people. */
    public String failingParts() {
        return health("/health/parts") == 503 ? body("/health/parts") : "";
    }

    /** Whether it is the replica that keeps the ledger, by its own metric. */
    public boolean leads() {
        return shows("gpusharing_leading 1");
    }

    /** Whether a line of its metrics begins so; false while it does not answer. */
    public boolean shows(String metric) {
        return metrics().stream().anyMatch(line -> line.startsWith(metric));
    }

    /** The values of all its metrics that begin so, together. */
    public double sum(String metric) {
        return metrics().stream()
                .filter(line -> line.startsWith(metric))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private List<String> metrics() {
        return body("/metrics").lines().toList();
    }

    /** What it says on its health port; empty while it does not answer. */
    private String body(String path) {
        try {
            var request =
                    HttpRequest.newBuilder(health().resolve(path))
                            .timeout(Duration.ofSeconds(2))
                            .build();
            return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The URL of something on its health port, {@code /metrics} for instance. */
    public URI health() {
        return URI.create("http://127.0.0.1:" + healthPort);
    }

    public Program program() {
        return program;
    }

    /** Starts it again after it was stopped or killed, exactly as before. */
    public void restart() {
        program = launch();
    }

    private Program launch() {
        return Program.start(cluster, name, environment, command);
    }

    private int health(String path) {
        try {
            var request =
                    HttpRequest.newBuilder(health().resolve(path))
                            .timeout(Duration.ofSeconds(2))
                            .build();
            return HTTP.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
