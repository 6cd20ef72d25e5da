package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.e2e.cluster.TestCluster;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * GPUSharing as people run it: {@code kubectl create -f deployment/} on real nodes, nothing changed
 * and nothing added. Its images must be on the nodes ({@code make images}).
 */
public final class InClusterInstallation implements InstalledServices {

    private static final URI TIMEKEEPER =
            URI.create("https://gpusharing-timekeeper." + Installation.NAMESPACE + ".svc");

    /** Where the nodes' driver has its files (tools/node). */
    private static final String MPS =
            "provider.mps.mode=Enabled,provider.driverRoot=/run/nvidia/driver";

    private final TestCluster cluster;

    private InClusterInstallation(TestCluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Creates all of {@code deployment/} and waits until every pod is ready and asked. The chart's
     * kube-scheduler cannot be pulled here, so it has to follow the API server's version.
     */
    public static InClusterInstallation on(TestCluster cluster) {
        InClusterInstallation installation = create(cluster);
        installation.awaitAdmission();
        installation.awaitScheduler();
        return installation;
    }

    /** Creates all of {@code deployment/}, and waits for nothing. */
    public static InClusterInstallation create(TestCluster cluster) {
        cluster.kubectl().run("create", "-f", "deployment/").orFail();
        return new InClusterInstallation(cluster);
    }

    /** Waits until every pod but our scheduler's is ready, and the webhook is asked. */
    public void awaitAdmission() {
        for (String workload :
                new String[] {
                    "deployment/gpusharing-webhook",
                    "statefulset/gpusharing-timekeeper",
                    "daemonset/gpusharing-node-agent"
                }) {
            awaitRollout(cluster, workload);
        }
        Installation.letTheQuestionerSeePods(cluster);
        Installation.awaitAdmission(cluster);
    }

    /** Watches the webhook's replicas, until it is closed. */
    public SharedIndexInformer<Pod> informOnWebhooks() {
        return webhooks(cluster).inform();
    }

    private static FilterWatchListDeletable<Pod, PodList, PodResource> webhooks(
            TestCluster cluster) {
        return cluster.client()
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel("app.kubernetes.io/component", "webhook");
    }

    /** Waits until our scheduler is there, in the API server's version. */
    public void awaitScheduler() {
        awaitScheduler(cluster);
    }

    private static void awaitScheduler(TestCluster cluster) {
        awaitRollout(cluster, "deployment/gpusharing-scheduler");
    }

    /**
     * Turns our scheduler off, as a site may that runs another one: what evicts is left of it, and
     * the webhook gives it no pods any more. Waits until no webhook of before is there.
     */
    public static void placeByTheClustersScheduler(TestCluster cluster) {
        String value = "scheduler.mode=None";
        Chart.set(cluster, value, "webhook.yaml");
        cluster.kubectl()
                .run("delete", "--ignore-not-found", "-f", "deployment/77-scheduler.yaml")
                .orFail();
        Chart.set(cluster, value, "scheduler.yaml");
        awaitWebhooks(cluster);
        awaitScheduler(cluster);
    }

    /**
     * Turns our scheduler on, as {@code helm upgrade} would, and waits until it is there. It has
     * the API server's version from the start, which it is else given by a second rollout.
     */
    public static void placeByOurScheduler(TestCluster cluster) {
        String values =
                "scheduler.mode=Own,scheduler.kubeScheduler.image=registry.k8s.io/kube-scheduler:"
                        + cluster.client().getKubernetesVersion().getGitVersion();
        for (String template :
                List.of(
                        "serviceaccounts",
                        "rbac-scheduler",
                        "rbac-webhook",
                        "networkpolicies",
                        "scheduler",
                        "webhook")) {
            Chart.set(cluster, values, template + ".yaml");
        }
        awaitWebhooks(cluster);
        awaitScheduler(cluster);
    }

    /** Those of before, too, answer as long as they end, and know nothing of a change. */
    private static void awaitWebhooks(TestCluster cluster) {
        awaitRollout(cluster, "deployment/gpusharing-webhook");
        Awaitility.await("the webhooks of before are gone")
                .atMost(Duration.ofMinutes(2))
                .until(() ->
                        webhooks(cluster).list().getItems().stream()
                                .allMatch(pod -> pod.getMetadata().getDeletionTimestamp() == null));
    }

    /**
     * Turns MPS on, as {@code helm upgrade} would, on a node that is labelled for it.
     *
     * @param more further values of the chart, {@code sidecar.mode=None} for instance
     */
    public static void shareByMps(TestCluster cluster, String node, String... more) {
        String values = String.join(",", Stream.concat(Stream.of(MPS), Stream.of(more)).toList());
        cluster.kubectl()
                .run(
                        "label",
                        "node",
                        node,
                        "--overwrite",
                        "gpusharing.io/gpus=shared",
                        "gpusharing.io/mps=enabled")
                .orFail();
        for (String template :
                List.of(
                        "timekeeper",
                        "webhook",
                        "mps-policy",
                        "scheduler",
                        "mps",
                        "device-plugin")) {
            Chart.set(cluster, values, template + ".yaml");
        }
        for (String workload :
                List.of(
                        "statefulset/gpusharing-timekeeper",
                        "deployment/gpusharing-webhook",
                        "deployment/gpusharing-scheduler",
                        "daemonset/gpusharing-device-plugin")) {
            awaitRollout(cluster, workload);
        }
    }

    /** Replaces the pods that a new version of the chart would, where MPS is on. */
    public static void upgradeWithMps(TestCluster cluster) {
        for (String template : List.of("mps", "device-plugin")) {
            Chart.set(cluster, MPS + ",provider.podAnnotations.version=next", template + ".yaml");
        }
        awaitRollout(cluster, "daemonset/gpusharing-device-plugin");
    }

    private static void awaitRollout(TestCluster cluster, String workload) {
        cluster.kubectl()
                .run(
                        "rollout",
                        "status",
                        workload,
                        "--namespace=" + Installation.NAMESPACE,
                        "--timeout=300s")
                .orFail();
    }

    @Override
    public TimekeeperApi api() {
        return new TimekeeperApi(cluster, TIMEKEEPER);
    }

    /** A process in the pod's container that the nodes' NVML knows by its command line. */
    @Override
    public String keepGpuBusy(Pod pod) {
        String[] command = {
            "exec",
            "--namespace=" + pod.getMetadata().getNamespace(),
            pod.getMetadata().getName(),
            "--container=" + pod.getSpec().getContainers().getFirst().getName(),
            "--",
            "sh",
            "-c",
            "sh -c 'while :; do sleep 1; done' gpu=0,busy=30 </dev/null >/dev/null 2>&1 &"
        };
        Awaitility.await("a process starts in the container")
                .atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> cluster.kubectl().run(command).orFail());
        return "A process in its container keeps GPU 0 of the node busy for 30 % of the time; the"
                + " node agent sees it in the node's (fake) NVML.";
    }

    @Override
    public String howToExplore() {
        return """
        It is a machine of its own: its network and its processes are seen from inside only.
          tools/machine enter .run/node
          export KUBECONFIG=%s PATH=$PWD/tools/.bin:$PATH
          kubectl get pods -A -o wide
          kubectl get gpubudgets
        Ask the timekeeper, as a service account that may see all pods here:
          %s
        logs         %s
        stop it with: make node-stop\
        """
                .formatted(
                        cluster.kubeconfig(),
                        api().curl("/api/v1/budgets/team-a/explain"),
                        cluster.dir().resolve("logs"));
    }
}
