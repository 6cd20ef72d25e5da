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

    /** Those of them that the list in progress has not shown yet. */
    private final Set<UUID> unshown = ConcurrentHashMap.newKeySet();

    UnreadPods(UnreadableObjects objects) {
        this.objects = objects;
    }

    /** What a pod says; empty if it cannot be read. */
    <R> Optional<R> read(Pod pod, Function<Pod, R> reader) {
        Optional<R> read = objects.read(pod, reader);
        PodReader.uid(pod)
                .ifPresent(uid -> {
                    unshown.remove(uid);
                    if (read.isEmpty()) {
                        present.add(uid);
                    } else {
                        present.remove(uid);
                    }
                });
        return read;
    }

    /** A pod was removed. */
    void gone(Pod pod) {
        PodReader.uid(pod).ifPresent(present::remove);
        objects.forget(pod);
    }

    /** A list of all begins. */
    void listing() {
        unshown.clear();
        unshown.addAll(present);
    }

    /**
     * A list is complete: what it has not shown has gone.
     *
     * @return those that are there and cannot be read
     */
    Set<UUID> listed() {
        if (!unshown.isEmpty()) {
            present.removeAll(unshown);
            Set<String> gone = unshown.stream().map(UUID::toString).collect(Collectors.toSet());
            objects.forgetAll(it -> gone.contains(it.uid()));
            unshown.clear();
        }
        return Set.copyOf(present);
    }

    /** From now on somebody else reads them. */
    @Override
    public void close() {
        listing();
        listed();
    }
}
