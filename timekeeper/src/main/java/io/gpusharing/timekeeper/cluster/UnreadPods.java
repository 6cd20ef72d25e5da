package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.allocation.PodReader;
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
    private final Set<UUID> present = ConcurrentHashMap.newKeySet();

    /** Those that were found since the last list began. */
    private final Set<UUID> found = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    UnreadPods(UnreadableObjects objects) {
        this.objects = objects.ofFollower();
    }

    /** What a pod says; empty if it cannot be read. */
    <R> Optional<R> read(Pod pod, Function<Pod, R> reader) {
        Optional<R> read = objects.read(pod, reader);
        PodReader.uid(pod)
                .ifPresent(uid -> {
                    if (read.isEmpty()) {
                        present.add(uid);
                        found.add(uid);
                    } else {
                        present.remove(uid);
                        found.remove(uid);
                    }
                });
        if (closed) {
            // It was being read meanwhile, and nobody would forget it.
            forgetAll();
        }
        return read;
    }

    /** A pod was removed. */
    void gone(Pod pod) {
        PodReader.uid(pod).ifPresent(present::remove);
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
        Set<String> uids = present.stream().map(UUID::toString).collect(Collectors.toSet());
        objects.forgetAll(it -> !uids.contains(it.uid()));
        return Set.copyOf(present);
    }

    /** From now on somebody else reads them. */
    @Override
    public void close() {
        closed = true;
        forgetAll();
    }

    private void forgetAll() {
        objects.forgetAll(_ -> true);
    }
}
