package io.gpusharing.e2e.admission;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Webhooks;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.core.ConditionFactory;

/**
 * A control plane with the shipped chart and two replicas of the webhook. Each test has namespaces
 * of its own in it.
 */
final class AdmissionCluster implements AutoCloseable {

    /** The user of the policies' tests: administrator of a namespace, no more. */
    static final String TENANT = "alice";

    /** Names of workloads in {@code default} that are older than GPUSharing, and illegal. */
    static final String OLD = "old";

    static final String OLD_AND_LEAVING = "leaving";

    private final TestCluster cluster;
    private final KubernetesClient client;
    private final Webhooks webhooks;
    private Map<String, String> properties = Map.of();

    private AdmissionCluster(TestCluster cluster, KubernetesClient client, Webhooks webhooks) {
        this.cluster = cluster;
        this.client = client;
        this.webhooks = webhooks;
    }

    /** Starts one, on which some workloads are older than GPUSharing. */
    static AdmissionCluster start() {
        return TestCluster.start(
                Repository.root().resolve(".run/admission"), AdmissionCluster::with);
    }

    private static AdmissionCluster with(TestCluster cluster) {
        var client = impatient(cluster.client().getConfiguration());
        var api = new Api(client);
        for (String name : List.of(OLD, OLD_AND_LEAVING)) {
            Workload.all(name, Workload.ILLEGAL)
                    .forEach(workload -> api.create("default", workload.manifest()).orFail());
        }
        return new AdmissionCluster(cluster, client, Webhooks.install(cluster, 2));
    }

    /** A client that does not retry: an unreachable webhook shows as a 500. */
    private static KubernetesClient impatient(Config config) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config).withRequestRetryBackoffLimit(0).build())
                .build();
    }

    /** Starts the webhook as the chart configures it, unless it runs so already. */
    void withWebhook() {
        withWebhook(Map.of());
    }

    /** Starts the webhook with this environment on top, unless it runs so already. */
    void withWebhook(Map<String, String> wanted) {
        if (webhooks.started() && properties.equals(wanted)) {
            return;
        }
        withoutWebhook();
        properties = wanted;
        webhooks.start(wanted);
    }

    void withoutWebhook() {
        webhooks.stop();
    }

    /** Base URL of each replica of the webhook. */
    List<URI> webhookUrls() {
        return webhooks.urls();
    }

    /** Waits as long as a busy machine may take, and no longer than needed. */
    static ConditionFactory eventually(String what) {
        return await(what)
                .atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50));
    }

    /** As the cluster's administrator. */
    Api api() {
        return new Api(client);
    }

    /** As the tenant, who administers the namespaces made by {@link #tenantNamespace}. */
    Api tenant() {
        return api().as(TENANT, "system:authenticated");
    }

    TestCluster cluster() {
        return cluster;
    }

    /**
     * Makes a namespace that pods can be created in.
     *
     * @param labels in YAML
     */
    String namespace(String name, String labels) {
        api().create(
                        "",
                        "{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s}}}"
                                .formatted(name, labels))
                .orFail();
        eventually("the service account of " + name)
                .until(() ->
                        api().get("/api/v1/namespaces/" + name + "/serviceaccounts/default")
                                .accepted());
        return name;
    }

    String namespace(String name) {
        return namespace(name, "");
    }

    /** Makes a namespace whose administrator is the tenant. */
    String tenantNamespace(String name) {
        namespace(name);
        api().create(
                        name,
                        """
                        apiVersion: rbac.authorization.k8s.io/v1
                        kind: RoleBinding
                        metadata: {name: tenant}
                        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
                        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]
                        """
                                .formatted(TENANT))
                .orFail();
        // Additional rights that some sites grant.
        api().create(
                        name,
                        """
                        apiVersion: rbac.authorization.k8s.io/v1
                        kind: Role
                        metadata: {name: debugger}
                        rules: [{apiGroups: [''], resources: [pods/ephemeralcontainers], verbs: ['*']}]
                        """)
                .orFail();
        api().create(
                        name,
                        """
                        apiVersion: rbac.authorization.k8s.io/v1
                        kind: RoleBinding
                        metadata: {name: debugger}
                        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: debugger}
                        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]
                        """
                                .formatted(TENANT))
                .orFail();
        return name;
    }

    @Override
    public void close() {
        client.close();
        cluster.close();
    }
}
