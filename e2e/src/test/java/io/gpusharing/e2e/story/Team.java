package io.gpusharing.e2e.story;

import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;

/** A team: a namespace with a budget that lasts, and its administrator. */
public final class Team {

    private Team() {}

    /**
     * Makes one.
     *
     * @param name of namespace and budget
     * @return the API server as its administrator sees it, who may do there what a tenant may
     */
    public static Api create(TestCluster cluster, Api api, String name) {
        cluster.createNamespace(name);
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '10000'}}"
                                .formatted(name))
                .orFail();
        api.create(
                        name,
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: tenant}, roleRef: {kind: ClusterRole, name: admin, apiGroup: rbac.authorization.k8s.io}, subjects: [{kind: User, name: tenant, apiGroup: rbac.authorization.k8s.io}]}")
                .orFail();
        return api.as("tenant", "system:authenticated");
    }
}
