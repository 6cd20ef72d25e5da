package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/**
 * A second kube-scheduler beside the cluster's own, for pods that name {@code
 * gpusharing-scheduler}, and our extender, which it asks.
 */
public final class PlacingScheduler {

    private final TestCluster cluster;
    private final int port;
    private final Service extender;
    private Program scheduler;

    private PlacingScheduler(TestCluster cluster) {
        this.cluster = cluster;
        List<Integer> ports = Ports.free(2);
        int healthPort = ports.getLast();
        this.port = ports.getFirst();
        this.extender =
                Service.start(
                        cluster,
                        "scheduler",
                        "scheduler-extender",
                        Map.of(
                                "KUBECONFIG",
                                cluster.kubeconfig().toString(),
                                "SERVER_PORT",
                                Integer.toString(port),
                                "MANAGEMENT_SERVER_ADDRESS",
                                "127.0.0.1",
                                "MANAGEMENT_SERVER_PORT",
                                Integer.toString(healthPort)),
                        healthPort);
        this.scheduler = launchScheduler();
    }

    /** Starts both, and waits until the extender has read the cluster. */
    public static PlacingScheduler on(TestCluster cluster) {
        var started = new PlacingScheduler(cluster);
        started.awaitReady();
        return started;
    }

    /** Kills the extender and starts it anew, while kube-scheduler goes on. */
    public void restartExtender() {
        extender.program().kill();
        extender.restart();
    }

    /** Kills kube-scheduler and starts it anew. */
    public void restartScheduler() {
        scheduler.kill();
        scheduler = launchScheduler();
    }

    /** Waits until the extender has read the cluster. */
    public void awaitReady() {
        extender.awaitReady();
    }

    private Program launchScheduler() {
        var file = cluster.dir().resolve("run/placing-scheduler.yaml");
        try {
            Files.writeString(
                    file,
                    """
                    apiVersion: kubescheduler.config.k8s.io/v1
                    kind: KubeSchedulerConfiguration
                    leaderElection: {leaderElect: false}
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
                            .formatted(cluster.kubeconfig(), port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Program.start(
                cluster,
                "placing-scheduler",
                Map.of(),
                List.of(
                        Repository.tool("kube-scheduler").toString(),
                        "--config=" + file,
                        "--secure-port=0"));
    }
}
