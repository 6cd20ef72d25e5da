package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * Argo Workflows as its own manifests install it: its kinds, the rights of its service account, and
 * its controller as a process beside the cluster.
 */
public final class ArgoWorkflows {

    private static final String NAMESPACE = "argo";
    private static final String ACCOUNT = "argo";
    private static final String CONTROLLER = "workflow-controller";

    private static final Duration SOON = Duration.ofSeconds(60);

    private final Path log;

    private ArgoWorkflows(TestCluster cluster) {
        this.log = cluster.dir().resolve("logs").resolve(CONTROLLER + ".log");
    }

    /** Installs it from what {@code tools/build} made of its module, and starts the controller. */
    public static ArgoWorkflows on(TestCluster cluster) {
        cluster.kubectl().run("create", "-f", Repository.tool("argo").toString()).orFail();
        awaitKind(cluster);
        cluster.createNamespace(NAMESPACE);
        String namespace = "--namespace=" + NAMESPACE;
        cluster.kubectl().run("create", "serviceaccount", ACCOUNT, namespace).orFail();
        cluster.kubectl()
                .run(
                        "create",
                        "clusterrolebinding",
                        "argo-binding",
                        "--clusterrole=argo-cluster-role",
                        "--serviceaccount=%s:%s".formatted(NAMESPACE, ACCOUNT))
                .orFail();
        // Their ports are fixed, and several clusters run side by side here.
        cluster.kubectl()
                .run(
                        "create",
                        "configmap",
                        "workflow-controller-configmap",
                        namespace,
                        "--from-literal=metricsConfig={enabled: false}",
                        "--from-literal=telemetryConfig={enabled: false}")
                .orFail();
        Program controller =
                Program.start(
                        cluster,
                        CONTROLLER,
                        // It looks at a workflow every ten seconds, and makes a pod anew that is
                        // gone
                        // within ten seconds of its start. Steps here last for seconds only.
                        Map.of(
                                "LEADER_ELECTION_DISABLE",
                                "true",
                                "DEFAULT_REQUEUE_TIME",
                                "1s",
                                "RECENTLY_STARTED_POD_DURATION",
                                "0s"),
                        List.of(
                                Repository.tool(CONTROLLER).toString(),
                                "--kubeconfig="
                                        + ServiceAccountAccess.kubeconfig(
                                                cluster, NAMESPACE, ACCOUNT),
                                namespace));
        var argo = new ArgoWorkflows(cluster);
        Awaitility.await("Argo's controller works")
                .atMost(SOON)
                .failFast(() -> {
                    if (!controller.runs()) {
                        throw new AssertionError(CONTROLLER + " ended:\n" + controller.lastWords());
                    }
                })
                .until(() -> argo.hasSaid("starting leading"));
        return argo;
    }

    private static void awaitKind(TestCluster cluster) {
        Awaitility.await("the API server serves workflows")
                .atMost(SOON)
                .until(() ->
                        !cluster.kubectl().run("get", "workflows.argoproj.io", "-A").refused());
    }

    /**
     * Whether the controller has tried to run, in the main container of a pod, the command by which
     * Argo ends a step. On a simulated node nothing carries it out.
     */
    public boolean hasToldToEnd(String pod) {
        return hasSaid(
                "/pods/%s/exec?".formatted(pod), "command=kill&command=15", "container=main");
    }

    /** Whether a line of its log has all of these. */
    private boolean hasSaid(String... words) {
        try (var lines = Files.lines(log)) {
            return lines.anyMatch(line -> Stream.of(words).allMatch(line::contains));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
