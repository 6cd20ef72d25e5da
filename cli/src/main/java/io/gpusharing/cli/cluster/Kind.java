package io.gpusharing.cli.cluster;

/** What the API server is asked for, and what helps where it does not answer. */
public enum Kind {
    GPUBUDGETS(
            "gpubudgets",
            "ask an administrator for the cluster role gpusharing-budget-reader",
            "GPUSharing is not installed in this cluster"),
    GPUGRANTS(
            "gpugrants",
            "ask an administrator for the cluster role gpusharing-budget-admin",
            "GPUSharing is not installed in this cluster"),
    GPUCORRECTIONS(
            "gpucorrections",
            "ask an administrator for the cluster role gpusharing-budget-admin",
            "GPUSharing is not installed in this cluster"),
    GPUNODES(
            "gpunodes",
            "ask an administrator for the cluster role gpusharing-gpunode-reader",
            "no device plugin of ours is installed in this cluster"),
    NODES("nodes", "ask an administrator for the right to list nodes", ""),
    WORKLOADS(
            "workloads there",
            "ask whoever administers the namespace for the role view",
            "no such kind"),
    PODS_OF_A_NAMESPACE(
            "pods there", "ask whoever administers the namespace for the role view", ""),
    EVENTS("events there", "ask whoever administers the namespace for the role view", ""),
    PODS("pods of all namespaces", "ask an administrator for the cluster role view", "");

    final String plural;
    final String right;
    final String absence;

    Kind(String plural, String right, String absence) {
        this.plural = plural;
        this.right = right;
        this.absence = absence;
    }
}
