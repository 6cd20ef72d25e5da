package io.gpusharing.e2e.installation;

import io.gpusharing.e2e.cluster.TestCluster;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The chart with replicas of the webhook alone, for tests of admission: nothing is metered. The API
 * server asks the first replica, as there is no Service to choose one.
 */
public final class Webhooks {

    private final TestCluster cluster;
    private final List<Integer> ports;
    private final List<Integer> healthPorts;
    private final List<Service> replicas = new ArrayList<>();

    private Webhooks(TestCluster cluster, List<Integer> ports, List<Integer> healthPorts) {
        this.cluster = cluster;
        this.ports = ports;
        this.healthPorts = healthPorts;
    }

    /** Creates all of {@code deployment/}; starts nothing yet. */
    public static Webhooks install(TestCluster cluster, int replicas) {
        List<Integer> ports = Ports.free(2 * replicas);
        var webhooks =
                new Webhooks(
                        cluster, ports.subList(0, replicas), ports.subList(replicas, 2 * replicas));
        Chart.create(cluster, webhooks.urls().getFirst());
        publishReportingAuthority(cluster);
        return webhooks;
    }

    /** What the timekeeper would do; without it no pod gets a sidecar. Here none reports. */
    private static void publishReportingAuthority(TestCluster cluster) {
        cluster.kubectl()
                .run(
                        "create",
                        "configmap",
                        "gpusharing-reporting-ca",
                        "--namespace=" + Installation.NAMESPACE,
                        "--from-literal=ca.crt=-----BEGIN CERTIFICATE-----")
                .orFail();
    }

    /**
     * Starts all replicas and waits until a GPU pod would be admitted.
     *
     * @param properties more environment, over what the chart says
     */
    public void start(Map<String, String> properties) {
        var here = new LinkedHashMap<String, String>();
        here.put("GPUSHARING_TLS_SUBJECTALTERNATIVENAMES", "127.0.0.1");
        here.putAll(properties);
        for (int i = 0; i < ports.size(); i++) {
            replicas.add(
                    Service.start(
                            cluster,
                            "webhook",
                            "webhook-" + (i + 1),
                            Installation.webhookTemplate(cluster),
                            ports.get(i),
                            healthPorts.get(i),
                            here));
        }
        replicas.forEach(Service::awaitReady);
        Installation.awaitAdmission(cluster);
    }

    /** Stops all replicas, as a node's shutdown would. */
    public void stop() {
        replicas.forEach(replica -> replica.program().stop());
        replicas.clear();
    }

    /** Whether they were started and not stopped since. */
    public boolean started() {
        return !replicas.isEmpty();
    }

    /** Base URL of each replica. */
    public List<URI> urls() {
        return ports.stream().map(port -> URI.create("https://127.0.0.1:" + port)).toList();
    }
}
