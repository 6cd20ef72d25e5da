package io.gpusharing.e2e.poison;

import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.poison.Poison.Author;
import java.util.List;
import java.util.Map;

/** Where poisons lie: namespaces with a tenant and an owner, and a node. */
record PoisonedNamespaces(Api administrator) {

    private static final List<String> NAMESPACES =
            List.of(
                    TellingPoisons.NAMESPACE,
                    "poisoned-quotas",
                    "poisoned-limits",
                    "poisoned-empty");

    /** The right of each in every one of them. */
    private static final Map<String, String> ROLES =
            Map.of(
                    "tenant",
                    "{kind: ClusterRole, name: admin, apiGroup: rbac.authorization.k8s.io}",
                    "owner",
                    "{kind: Role, name: everything, apiGroup: rbac.authorization.k8s.io}");

    /** Makes them. */
    static PoisonedNamespaces create(TestCluster cluster) {
        var administrator = new Api(cluster.client());
        for (String namespace : NAMESPACES) {
            cluster.createNamespace(namespace);
            administrator
                    .create(
                            namespace,
                            "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: everything}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}")
                    .orFail();
            ROLES.forEach((user, role) ->
                    administrator
                            .create(
                                    namespace,
                                    "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s}, roleRef: %s, subjects: [{kind: User, name: %1$s, apiGroup: rbac.authorization.k8s.io}]}"
                                            .formatted(user, role))
                            .orFail());
        }
        node(administrator);
        return new PoisonedNamespaces(administrator);
    }

    /** A node that nobody runs and no pod of others gets. */
    private static void node(Api administrator) {
        administrator
                .create(
                        "",
                        "{apiVersion: v1, kind: Node, metadata: {name: poisoned}, spec: {unschedulable: true}}")
                .orFail();
        administrator
                .merge(
                        "/api/v1/nodes/poisoned/status",
                        "{status: {capacity: {cpu: 64, memory: 256Gi, pods: 10000, nvidia.com/gpu: 8}, allocatable: {cpu: 64, memory: 256Gi, pods: 10000, nvidia.com/gpu: 8}}}")
                .orFail();
    }

    /** The API server as the author of a poison sees it. */
    Api as(Author author, Poison poison) {
        return switch (author) {
            case TENANT -> administrator.as("tenant", "system:authenticated");
            case OWNER -> administrator.as("owner", "system:authenticated");
            case ADMINISTRATOR -> administrator;
            case PROGRAM ->
                    poison.kind().equals("GpuNode")
                            ? program("device-plugin").on(poison.objectName())
                            : program("scheduler");
        };
    }

    private Api program(String name) {
        return administrator.as(
                "system:serviceaccount:gpusharing-system:gpusharing-" + name,
                "system:serviceaccounts",
                "system:serviceaccounts:gpusharing-system",
                "system:authenticated");
    }

    /** Deletes all that lies in them. */
    void clear() {
        NAMESPACES.forEach(it ->
                administrator.delete(
                        "/api/v1/namespaces/%s/pods?gracePeriodSeconds=0".formatted(it)));
    }
}
