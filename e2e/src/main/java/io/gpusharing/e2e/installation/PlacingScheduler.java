package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A second kube-scheduler beside the cluster's own, for pods that name {@code
 * gpusharing-scheduler}, and our extender, which it asks. The extender reclaims and evicts as well,
 * by a lease that does not depend on kube-scheduler's.
 */
public final class PlacingScheduler {

    /** In the namespace {@code kube-system} here. */
    public static final String LEASE = "gpusharing-scheduler";

    private static final String KUBE_SYSTEM = "kube-system";

    /** No timekeeper asks it; several are on this machine. */
    private static final int ANY_PORT = 0;

    private final TestCluster cluster;
    private final String name;
    private final boolean elected;
    private final Path kubeconfig;
    private final Path kubeScheduler;
    private final int port;
    private final Service extender;
    private Program scheduler;

    private PlacingScheduler(
            TestCluster cluster,
            String name,
            boolean elected,
            Path kubeconfig,
            String evictingNamespace,
            int explanationsPort) {
        this.cluster = cluster;
        this.kubeconfig = kubeconfig;
        this.kubeScheduler = cluster.kubeScheduler();
        this.name = name;
        this.elected = elected;
        List<Integer> ports = Ports.free(2);
        int healthPort = ports.getLast();
        this.port = ports.getFirst();
        this.extender =
                Service.start(
                        cluster,
                        "scheduler",
                        name + "-extender",
                        environment(healthPort, evictingNamespace, explanationsPort),
                        healthPort);
        this.scheduler = launchScheduler();
    }

    private Map<String, String> environment(
            int healthPort, String evictingNamespace, int explanationsPort) {
        var environment = new HashMap<String, String>();
        environment.put("KUBECONFIG", kubeconfig.toString());
        environment.put("SERVER_PORT", Integer.toString(port));
        environment.put("MANAGEMENT_SERVER_ADDRESS", "127.0.0.1");
        environment.put("MANAGEMENT_SERVER_PORT", Integer.toString(healthPort));
        environment.put(
                "GPUSHARING_SCHEDULER_EXPLANATIONS_PORT", Integer.toString(explanationsPort));
        environment.put("GPUSHARING_SCHEDULER_ACCESS_SUBJECTALTERNATIVENAMES", "127.0.0.1");
        // Nodes say whether they serve MPS, and few do.
        environment.put("GPUSHARING_SCHEDULER_MPSACROSS", "Budget");
        // Tests cannot wait as long as a cluster can.
        environment.put("GPUSHARING_RECLAIM_PATIENCE", "2s");
        environment.put("GPUSHARING_RECLAIM_MAXPERMINUTE", "100");
        environment.put("GPUSHARING_RECLAIM_RESERVE", "true");
        // By which several are told apart in the lease of the one that evicts.
        environment.put("POD_NAME", name);
        environment.put("GPUSHARING_EVICTING_NAMESPACE", evictingNamespace);
        if (elected) {
            environment.put("GPUSHARING_SCHEDULER_LEASE_NAMESPACE", KUBE_SYSTEM);
            environment.put("GPUSHARING_SCHEDULER_LEASE_NAME", LEASE);
            environment.put("GPUSHARING_SCHEDULER_LEASE_HOST", name);
        }
        return environment;
    }

    /** Starts both, and waits until the extender has read the cluster. */
    public static PlacingScheduler on(TestCluster cluster) {
        return ready(
                new PlacingScheduler(
                        cluster, "scheduler", false, cluster.kubeconfig(), KUBE_SYSTEM, ANY_PORT));
    }

    /** With the rights of the service account that an installation has for it. */
    public static PlacingScheduler installed(TestCluster cluster) {
        Path kubeconfig =
                ServiceAccountAccess.kubeconfig(
                        cluster, Installation.NAMESPACE, "gpusharing-scheduler");
        return ready(
                new PlacingScheduler(
                        cluster,
                        "scheduler",
                        false,
                        kubeconfig,
                        Installation.NAMESPACE,
                        ExplanationsPort.of(cluster)));
    }

    /**
     * One of several, of which the one works that has the Lease {@value #LEASE}, as in a cluster.
     */
    public static PlacingScheduler replica(TestCluster cluster, String name) {
        return ready(
                new PlacingScheduler(
                        cluster, name, true, cluster.kubeconfig(), KUBE_SYSTEM, ANY_PORT));
    }

    private static PlacingScheduler ready(PlacingScheduler started) {
        started.awaitReady();
        return started;
    }

    /** Kills the extender, and with it what evicts, while kube-scheduler goes on. */
    public void killExtender() {
        extender.program().kill();
    }

    /** Kills the extender and starts it anew, while kube-scheduler goes on. */
    public void restartExtender() {
        killExtender();
        extender.restart();
    }

    /** Kills kube-scheduler and starts it anew. */
    public void restartScheduler() {
        scheduler.kill();
        scheduler = launchScheduler();
    }

    /** Ends both, as when they are not installed any more. */
    public void stop() {
        scheduler.stop();
        extender.program().stop();
    }

    /** As a kubelet does with containers that ended by themselves. */
    public void restartEnded() {
        if (!extender.program().runs()) {
            extender.restart();
        }
        if (!scheduler.runs()) {
            scheduler = launchScheduler();
        }
    }

    /** Both stand still, as on a node that hangs, until {@link #goOn}. */
    public void standStill() {
        scheduler.signal("STOP");
        extender.program().signal("STOP");
    }

    /** Both go on where they stood, with what they believed then. */
    public void goOn() {
        extender.program().signal("CONT");
        scheduler.signal("CONT");
    }

    /** Waits until the extender has read the cluster. */
    public void awaitReady() {
        extender.awaitReady();
    }

    /** What kube-scheduler asks. */
    public Service extender() {
        return extender;
    }

    /** Whether a line of the extender's metrics begins so. */
    public boolean shows(String metric) {
        return extender.shows(metric);
    }

    private Program launchScheduler() {
        var file = cluster.dir().resolve("run/%s.yaml".formatted(name));
        try {
            Files.writeString(
                    file,
                    """
                    apiVersion: kubescheduler.config.k8s.io/v1
                    kind: KubeSchedulerConfiguration
                    leaderElection: {leaderElect: %s, resourceName: %s, resourceNamespace: kube-system}
                    clientConnection: {kubeconfig: '%s', qps: 200, burst: 400}
                    percentageOfNodesToScore: 100
                    profiles: [{schedulerName: gpusharing-scheduler}]
                    extenders:
                      - urlPrefix: http://127.0.0.1:%d
                        filterVerb: filter
                        preemptVerb: preempt
                        bindVerb: bind
                        httpTimeout: 5s
                        nodeCacheCapable: true
                        ignorable: false
                        managedResources:
                          - {name: tencent.com/vcuda-core, ignoredByScheduler: false}
                          - {name: aliyun.com/gpu-mem, ignoredByScheduler: false}
                          - {name: cnvrg.io/metagpu, ignoredByScheduler: false}
                    """
                            .formatted(elected, LEASE, kubeconfig, port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        var command = new ArrayList<String>();
        if (elected) {
            // By its host's name one knows which of several holds the Lease: each has one of its
            // own.
            command.addAll(List.of("unshare", "--user", "--map-root-user", "--uts", "sh", "-c"));
            command.addAll(List.of("hostname \"$0\" && exec \"$@\"", name));
        }
        command.addAll(List.of(kubeScheduler.toString(), "--config=" + file, "--secure-port=0"));
        return Program.start(cluster, "kube-" + name, Map.of(), command);
    }
}
