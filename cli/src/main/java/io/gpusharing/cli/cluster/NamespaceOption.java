package io.gpusharing.cli.cluster;

import static java.util.Objects.requireNonNullElse;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code -n}, of commands that are about one namespace. */
public final class NamespaceOption {

    @Option(
            names = {"-n", "--namespace"},
            paramLabel = "NAME",
            description = "Instead of the one of the context.")
    private @Nullable String namespace;

    /** The one that the user means. */
    public String in(Cluster cluster) {
        return in(cluster, null);
    }

    /**
     * The same of a manifest.
     *
     * @param written the namespace that the manifest names; null if it names none
     */
    public String in(Cluster cluster, @Nullable String written) {
        return requireNonNullElse(namespace, requireNonNullElse(written, cluster.namespace()));
    }
}
