package io.gpusharing.cli.explain;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.kubernetes.ManifestReader;
import io.gpusharing.kubernetes.ManifestReader.ManifestException;
import io.gpusharing.kubernetes.Replicas;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A manifest that the user has written. What is wrong with it is a {@link Failure}.
 *
 * @param object the same in maps and lists
 */
record ManifestFile(String text, Map<?, ?> object) {

    /** All of them: which ones a site takes only the site knows. */
    static final RequestGrammars GRAMMARS = RequestGrammars.of(RequestGrammars.names(), List.of());

    private static final ManifestReader MANIFESTS = new ManifestReader(GRAMMARS);

    /**
     * Reads it.
     *
     * @param file {@code -} is standard input
     */
    static ManifestFile read(Path file) {
        String text = text(file);
        try {
            return new ManifestFile(text, MANIFESTS.object(text));
        } catch (ManifestException e) {
            throw new Failure(file + ": " + e.getMessage());
        }
    }

    private static String text(Path file) {
        try {
            return file.toString().equals("-")
                    ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                    : Files.readString(file);
        } catch (IOException e) {
            throw new Failure("Cannot read %s: %s".formatted(file, e));
        }
    }

    /** Where its pods would be. */
    String namespace(NamespaceOption option, Cluster cluster) {
        String written =
                object.get("metadata") instanceof Map<?, ?> metadata
                                && metadata.get("namespace") instanceof String named
                        ? named
                        : null;
        return option.in(cluster, written);
    }

    /** One of its pods, which is legal. */
    Pod pod(String namespace) {
        try {
            return MANIFESTS.read(text, namespace, null, Instant.EPOCH);
        } catch (ManifestException e) {
            throw new Failure(String.valueOf(e.getMessage()));
        }
    }

    /** What a pod asks for. */
    static PodRequest request(Pod pod) {
        return ResourceReader.request(pod.getSpec(), GRAMMARS::reads);
    }

    /** How many pods it makes. */
    Replicas replicas() {
        try {
            return Replicas.of(object);
        } catch (ManifestException e) {
            throw new Failure(String.valueOf(e.getMessage()));
        }
    }
}
