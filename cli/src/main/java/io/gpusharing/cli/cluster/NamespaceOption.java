package io.gpusharing.cli.cluster;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.cli.console.Failure;
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
     * @throws Failure if the user names another one
     */
    public String in(Cluster cluster, @Nullable String written) {
        if (namespace != null && written != null && !written.equals(namespace)) {
            throw new Failure(
                    "metadata.namespace is %s, and -n is %s; leave out one of them"
                            .formatted(written, namespace));
        }
        return requireNonNullElse(namespace, requireNonNullElse(written, cluster.namespace()));
    }
}
