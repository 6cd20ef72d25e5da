package io.gpusharing.e2e.cluster;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A control plane of its own in a folder of its own, with two nodes of two GPUs each. The nodes are
 * simulated, everything else is real; inside a machine ({@code tools/machine}) the nodes are real,
 * too.
 *
 * <p>It ends with {@link #close}, and also when this process dies in any other way: {@code
 * tools/cluster} watches it.
 */
public final class TestCluster implements AutoCloseable {

    /** Inside a machine: its folder, and the name of its cgroup. */
    private static final Path MACHINE = Path.of("/run/gpusharing-machine");

    private final Path dir;
    private final Kubectl kubectl;
    private final KubernetesClient client;

    private TestCluster(Path dir) {
        this.dir = dir;
        this.kubectl = new Kubectl(kubeconfig());
        this.client =
                new KubernetesClientBuilder()
                        .withConfig(Config.fromKubeconfig(kubeconfig().toFile()))
                        .build();
    }

    /**
     * Starts one; takes about four seconds.
     *
     * @param dir where everything of it lies; what an earlier run left there is taken down first
     */
    public static TestCluster start(Path dir) {
        return start(dir, Map.of());
    }

    /** Starts one and puts something on it; if that fails, the cluster ends. */
    public static <T> T start(Path dir, Function<TestCluster, T> installation) {
        var cluster = start(dir);
        try {
            return installation.apply(cluster);
        } catch (AssertionError | RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    /**
     * Starts one whose real nodes are others.
     *
     * @param environment how they are made: variables of {@code tools/node}
     */
    public static TestCluster start(Path dir, Map<String, String> environment) {
        Path absolute = dir.toAbsolutePath();
        String owner = String.valueOf(ProcessHandle.current().pid());
        script("down", absolute);
        Script.run(
                "tools/cluster", List.of("up", absolute.toString(), "--owner", owner), environment);
        return new TestCluster(absolute);
    }

    /** Whether clusters that are started here have real nodes: kubelets, containers, Services. */
    public static boolean hasRealNodes() {
        return Files.exists(MACHINE);
    }

    public Path dir() {
        return dir;
    }

    /** Certificate ({@code ca.crt}) and key ({@code ca.key}) by which clients are known. */
    public Path authority() {
        return plane().resolve("pki");
    }

    private Path plane() {
        return dir.resolve("kwok/clusters/gpusharing");
    }

    /** The administrator's. Our services never get it. */
    public Path kubeconfig() {
        return dir.resolve("kubeconfig");
    }

    /** Every write to a pod and its answer, one JSON object a line. */
    public Path auditLog() {
        return dir.resolve("logs/audit.log");
    }

    public Kubectl kubectl() {
        return kubectl;
    }

    public KubernetesClient client() {
        return client;
    }

    /**
     * Makes the namespace and waits for its default service account, without which no pod can be
     * created in it.
     */
    public void createNamespace(String name) {
        kubectl.run("create", "namespace", name).orFail();
        kubectl.run(
                        "wait",
                        "--for=create",
                        "serviceaccount/default",
                        "--namespace=" + name,
                        "--timeout=30s")
                .orFail();
    }

    /** Kills the API server, as a crash would; {@link #resume} brings it back on the same port. */
    public void killApiServer() {
        kill("kube-apiserver");
    }

    /** Kills the scheduler, so that another one can take its place. */
    public void killScheduler() {
        kill("kube-scheduler");
    }

    private void kill(String component) {
        ProcessHandle running = running(component);
        running.destroyForcibly();
        running.onExit().join();
        try {
            // Its number may soon be somebody else's, who would pass for a running one.
            Files.delete(pidFile(component));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The cluster's own kube-scheduler, whichever version that is. */
    public Path kubeScheduler() {
        return Path.of(running("kube-scheduler").info().command().orElseThrow());
    }

    private ProcessHandle running(String component) {
        try {
            return ProcessHandle.of(Long.parseLong(Files.readString(pidFile(component)).strip()))
                    .orElseThrow(
                            () -> new IllegalStateException("No %s runs".formatted(component)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path pidFile(String component) {
        return plane().resolve("pids").resolve(component + ".pid");
    }

    /** Starts again whatever of the control plane does not run. */
    public void resume() {
        script("resume", dir);
    }

    /** Where {@link #close} leaves all logs, the audit log included. */
    public Path savedLogs() {
        Path run = Repository.root().resolve(".run");
        return run.resolve("logs").resolve(run.relativize(dir).toString().replace('/', '-'));
    }

    private void saveLogs() {
        Path target = savedLogs();
        try (var logs = Files.list(dir.resolve("logs"))) {
            Files.createDirectories(target);
            for (Path log : logs.toList()) {
                Files.copy(
                        log,
                        target.resolve(log.getFileName()),
                        StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Leaves the cluster running when this process ends, and the machine that it is in. */
    public void keep() {
        try {
            Files.createFile(dir.resolve("keep"));
            if (hasRealNodes()) {
                Files.createFile(
                        Path.of(Files.readString(MACHINE).split(" ", 2)[0]).resolve("keep"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Ends the control plane and every program that was started beside it, and removes the folder;
     * the logs are kept ({@link #savedLogs}).
     */
    @Override
    public void close() {
        client.close();
        try {
            saveLogs();
        } finally {
            script("down", dir);
        }
    }

    /**
     * Does something with a real node.
     *
     * @param verb of {@code tools/node}: {@code stop} or {@code start} one of its programs, or a
     *     command {@code on} it
     */
    public void node(String verb, String node, String... more) {
        Script.run("tools/node", arguments(verb, node, more));
    }

    /** As {@link #node}, with what it prints. */
    public String askNode(String verb, String node, String... more) {
        return Script.ask("tools/node", arguments(verb, node, more));
    }

    private List<String> arguments(String verb, String node, String... more) {
        var arguments = new ArrayList<>(List.of(verb, dir.toString(), node));
        arguments.addAll(List.of(more));
        return arguments;
    }

    private static void script(String verb, Path dir) {
        Script.run("tools/cluster", List.of(verb, dir.toString()));
    }
}
