package io.gpusharing.e2e.admission;

import static org.awaitility.Awaitility.await;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Webhooks;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A control plane with the shipped chart and two replicas of the webhook. Each test has namespaces
 * of its own in it.
 */
final class AdmissionCluster implements AutoCloseable {

    /** The person that tests of the policies are about: administrator of a namespace, no more. */
    static final String TENANT = "alice";

    private final TestCluster cluster;
    private final Webhooks webhooks;
    private Map<String, String> properties = Map.of();

    private AdmissionCluster(TestCluster cluster, Webhooks webhooks) {
        this.cluster = cluster;
        this.webhooks = webhooks;
    }

    /** Starts one, on which some workloads are older than GPUSharing. */
    static AdmissionCluster start() {
        var cluster = TestCluster.start(Repository.root().resolve(".run/admission"));
        var api = new Api(cluster.client());
        Workload.all("old", Workload.ILLEGAL)
                .forEach(workload -> api.create("default", workload.manifest()).orFail());
        return new AdmissionCluster(cluster, Webhooks.install(cluster, 2));
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

    /** As the cluster's administrator. */
    Api api() {
        return new Api(cluster.client());
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
        await("the service account of " + name)
                .pollInterval(Duration.ofMillis(20))
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
        return name;
    }

    @Override
    public void close() {
        cluster.saveLogs(Repository.root().resolve("e2e/target/logs/admission"));
        cluster.close();
    }
}
