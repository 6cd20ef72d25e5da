package io.gpusharing.scheduler.version;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which kube-scheduler is to run. It must not be newer than any API server of the cluster, and may
 * be one minor release older (kubernetes.io, version skew policy). The API servers are upgraded one
 * after another, and each answers for itself.
 */
final class VersionRule {

    /** How long all answers must have been the same before a usable release is replaced. */
    static final Duration SETTLED = Duration.ofMinutes(30);

    /** What did not start. */
    private final Set<KubernetesVersion> tried = new HashSet<>();

    private @Nullable KubernetesVersion seen;
    private Instant since = Instant.MIN;

    /**
     * What to change it to. Of the same minor release any will do.
     *
     * @param runs the kube-scheduler that is there
     * @param server what an API server has just said of itself
     * @param stuck whether the one that is there does not start
     * @return empty if it stays
     */
    Optional<KubernetesVersion> next(
            KubernetesVersion runs, KubernetesVersion server, boolean stuck, Instant now) {
        if (!server.equals(seen)) {
            seen = server;
            since = now;
        }
        int behind = runs.minorsBehind(server);
        if (behind == 0) {
            if (!stuck) {
                return Optional.empty();
            }
            tried.add(runs);
            // A mirror may have the cluster's own alone. Some distributions count patches of their
            // own; of the first one there is an image.
            return Stream.of(server, server.first()).filter(it -> !tried.contains(it)).findFirst();
        }
        return behind == 1 && now.isBefore(since.plus(SETTLED))
                ? Optional.empty()
                : Optional.of(server);
    }
}
