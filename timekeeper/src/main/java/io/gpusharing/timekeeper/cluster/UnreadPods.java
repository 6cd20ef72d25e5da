package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Reads the pods of one selection, and knows which of them cannot be read. A pod that a list shows
 * has not gone, whether it can be read or not.
 */
final class UnreadPods implements AutoCloseable {

    private final UnreadableObjects objects;

    /** UIDs of those that are there and cannot be read. */
    private final Set<String> present = ConcurrentHashMap.newKeySet();

    /** Those that were found since the last list began. */
    private final Set<String> found = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    UnreadPods(UnreadableObjects objects) {
        this.objects = objects.ofFollower();
    }

    /** What a pod says; empty if it cannot be read. */
    <R> Optional<R> read(Pod pod, Function<Pod, R> reader) {
        Optional<R> read = objects.read(pod, reader);
        String uid = uid(pod);
        if (read.isEmpty()) {
            present.add(uid);
            found.add(uid);
        } else {
            present.remove(uid);
            found.remove(uid);
        }
        if (closed) {
            // It was being read meanwhile, and nobody would forget it.
            forgetAll();
        }
        return read;
    }

    /** A pod was removed. */
    void gone(Pod pod) {
        present.remove(uid(pod));
        objects.forget(pod);
    }

    /** A list of all begins. If it is never complete, nothing is concluded from it. */
    void listing() {
        found.clear();
    }

    /**
     * A list is complete: what it has not shown has gone.
     *
     * @return those that are there and cannot be read
     */
    Set<UUID> listed() {
        present.retainAll(found);
        objects.forgetAll(it -> !present.contains(it.uid()));
        return present.stream()
                .flatMap(uid -> uuid(uid).stream())
                .collect(Collectors.toUnmodifiableSet());
    }

    private static String uid(Pod pod) {
        return Objects.requireNonNullElse(pod.getMetadata().getUid(), "");
    }

    /** Empty if the API server cannot have given it: then it is of no pod that was read before. */
    private static Optional<UUID> uuid(String uid) {
        try {
            return Optional.of(UUID.fromString(uid));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** From now on somebody else reads them. */
    @Override
    public void close() {
        closed = true;
        forgetAll();
    }

    /** Until they are found again. */
    void forgetAll() {
        objects.forgetAll(_ -> true);
    }
}
