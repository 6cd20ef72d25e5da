package io.gpusharing.e2e.scheduling;

import io.gpusharing.e2e.cluster.TestCluster;

/** What device plugins would write of simulated nodes. */
final class SharedNodes {

    private SharedNodes() {}

    /** As the device plugin of a node would, with two GPUs. */
    static void share(TestCluster cluster, String node) {
        cluster.kubectl()
                .pipe(
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuNode, metadata: {name: %s}}"
                                .formatted(node),
                        "create",
                        "-f",
                        "-")
                .orFail();
        describe(cluster, node, "Idle", "");
    }

    /** Both GPUs are in this mode, with these grants. */
    static void describe(TestCluster cluster, String node, String mode, String grants) {
        String gpu =
                "{\"uuid\":\"%s-gpu-%2$d\",\"index\":%2$d,\"memoryMiB\":15360,\"mig\":false,\"health\":\"Healthy\",\"mode\":\"%3$s\",\"grants\":[%4$s]}";
        cluster.kubectl()
                .run(
                        "patch",
                        "gpunode",
                        node,
                        "--subresource=status",
                        "--type=merge",
                        "--patch={\"status\":{\"tier\":\"TimeSlice\",\"gpus\":[%s,%s]}}"
                                .formatted(
                                        gpu.formatted(node, 0, mode, grants),
                                        gpu.formatted(node, 1, mode, grants)))
                .orFail();
    }
}
