package io.gpusharing.e2e.installation;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The cluster's own kube-scheduler as an administrator would configure it, in the place of the one
 * that the cluster came with: it has a certificate of the cluster's client CA, and asks our
 * extender over TLS. The extender is installed by the chart, and has its service account's rights.
 */
public final class ClusterScheduler {

    /** By which name kubeadm, k3s and RKE2 let it in. */
    public static final String NAME = "system:kube-scheduler";

    /** A client's certificate and its key, both PEM. */
    public record ClientKey(String certificate, String key) {}

    private static final String MODE = "scheduler.mode=Extender";

    private final TestCluster cluster;
    private final Function<String, ClientKey> keys;
    private final Path run;
    private final int port;
    private final Service extender;
    private Program scheduler;

    private ClusterScheduler(TestCluster cluster, Function<String, ClientKey> keys) {
        this.cluster = cluster;
        this.keys = keys;
        this.run = cluster.dir().resolve("run");
        List.of("serviceaccounts", "secrets-policy", "rbac-scheduler", "scheduler")
                .forEach(template -> Chart.set(cluster, MODE, template + ".yaml"));
        List<Integer> ports = Ports.free(2);
        this.port = ports.getFirst();
        this.extender =
                Service.start(
                        cluster,
                        "scheduler",
                        "extender",
                        "extender",
                        cluster.client()
                                .apps()
                                .deployments()
                                .inNamespace(Installation.NAMESPACE)
                                .withName("gpusharing-scheduler")
                                .require()
                                .getSpec()
                                .getTemplate(),
                        port,
                        ports.getLast(),
                        // For who looks without the Service's name, and beside others.
                        Map.of(
                                "GPUSHARING_SCHEDULER_ACCESS_SUBJECTALTERNATIVENAMES",
                                "127.0.0.1",
                                "GPUSHARING_SCHEDULER_EXPLANATIONS_PORT",
                                "0"));
        extender.awaitReady();
        write(
                "extender-ca.crt",
                cluster.client()
                        .configMaps()
                        .inNamespace(Installation.NAMESPACE)
                        .withName("gpusharing-scheduler-ca")
                        .require()
                        .getData()
                        .getOrDefault("ca.crt", ""));
        writeCertificate(NAME, "scheduler");
        cluster.killScheduler();
        this.scheduler = launch("scheduler");
    }

    /**
     * Installs the extender and starts both; the namespace of our own objects is there.
     *
     * @param keys makes a certificate of the cluster's client CA for this common name
     */
    public static ClusterScheduler on(TestCluster cluster, Function<String, ClientKey> keys) {
        return new ClusterScheduler(cluster, keys);
    }

    /** Kills the extender, while kube-scheduler goes on. */
    public void killExtender() {
        extender.program().kill();
    }

    /** Starts it again, and waits until it is sent questions. */
    public void restartExtender() {
        extender.restart();
        extender.awaitReady();
    }

    /** Starts kube-scheduler anew, which shows the extender a certificate of this name. */
    public void askAs(String name) {
        writeCertificate(name, "shown");
        scheduler.kill();
        scheduler = launch("shown");
    }

    /** kube-scheduler starts anew without its configuration, and nobody asks the extender. */
    public void takeOut() {
        scheduler.kill();
        scheduler =
                Program.start(
                        cluster,
                        "cluster-scheduler",
                        Map.of(),
                        List.of(
                                Repository.tool("kube-scheduler").toString(),
                                "--kubeconfig=" + run.resolve("cluster-scheduler.kubeconfig"),
                                "--leader-elect=false",
                                "--secure-port=0"));
        extender.program().stop();
    }

    /** Where the extender is asked. */
    public String extenderUrl() {
        return "https://127.0.0.1:" + port;
    }

    /** By which its certificate is known, PEM. */
    public Path extenderAuthority() {
        return run.resolve("extender-ca.crt");
    }

    private Program launch(String shown) {
        String kubeconfig =
                """
                apiVersion: v1
                kind: Config
                current-context: here
                clusters: [{name: here, cluster: {server: '%1$s', certificate-authority: '%2$s/ca.crt'}}]
                users: [{name: here, user: {client-certificate: '%3$s/scheduler.crt', client-key: '%3$s/scheduler.key'}}]
                contexts: [{name: here, context: {cluster: here, user: here}}]
                """
                        .formatted(
                                cluster.client().getConfiguration().getMasterUrl(),
                                cluster.authority(),
                                run);
        Path configuration =
                write(
                        "cluster-scheduler.yaml",
                        """
                        apiVersion: kubescheduler.config.k8s.io/v1
                        kind: KubeSchedulerConfiguration
                        leaderElection: {leaderElect: false}
                        clientConnection: {kubeconfig: '%1$s'}
                        percentageOfNodesToScore: 100
                        extenders:
                          - urlPrefix: %2$s
                            enableHTTPS: true
                            tlsConfig:
                              serverName: gpusharing-scheduler.%3$s.svc
                              caFile: '%4$s'
                              certFile: '%5$s/%6$s.crt'
                              keyFile: '%5$s/%6$s.key'
                            filterVerb: filter
                            preemptVerb: preempt
                            bindVerb: bind
                            httpTimeout: 5s
                            nodeCacheCapable: true
                            ignorable: false
                            managedResources:
                              - {name: tencent.com/vcuda-core, ignoredByScheduler: false}
                        """
                                .formatted(
                                        write("cluster-scheduler.kubeconfig", kubeconfig),
                                        extenderUrl(),
                                        Installation.NAMESPACE,
                                        extenderAuthority(),
                                        run,
                                        shown));
        return Program.start(
                cluster,
                "cluster-scheduler",
                Map.of(),
                List.of(
                        Repository.tool("kube-scheduler").toString(),
                        "--config=" + configuration,
                        "--secure-port=0"));
    }

    private void writeCertificate(String name, String file) {
        ClientKey made = keys.apply(name);
        write(file + ".crt", made.certificate());
        write(file + ".key", made.key());
    }

    private Path write(String file, String text) {
        try {
            return Files.writeString(run.resolve(file), text, US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
