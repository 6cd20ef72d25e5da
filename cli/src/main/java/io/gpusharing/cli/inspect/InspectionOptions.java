package io.gpusharing.cli.inspect;

import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which GPUs a question is about. */
final class InspectionOptions {

    @Mixin private final ClusterOptions options = new ClusterOptions();

    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAME",
            description = "Only GPUs on which pods of this namespace are.")
    private @Nullable String namespace;

    @Option(
            names = {"-A", "--all-namespaces"},
            description = "All GPUs, which is the default.")
    private boolean all;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "One node instead of all.")
    private @Nullable String node;

    boolean isOfOneNode() {
        return node != null;
    }

    /** What the cluster says of them. */
    Inspection read() {
        Inspection found;
        try (Cluster cluster = options.connect()) {
            found = new InspectionReader(cluster, node).read();
        }
        return namespace == null || all ? found : found.of(namespace);
    }
}
