package io.gpusharing.timekeeper.ledger;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** Which pods hold, or held, the devices of claims that pods name. */
final class Holders {

    /**
     * A pod that holds an allocation, or did.
     *
     * @param allocation whose stay it is charged by
     */
    record Holder(UUID allocation, UUID pod) {}

    private final Map<UUID, Set<UUID>> pods = new HashMap<>();
    private final Map<UUID, Set<UUID>> allocations = new HashMap<>();

    void add(Collection<Holder> holders) {
        for (Holder holder : holders) {
            pods.computeIfAbsent(holder.allocation(), it -> new HashSet<>()).add(holder.pod());
            allocations
                    .computeIfAbsent(holder.pod(), it -> new HashSet<>())
                    .add(holder.allocation());
        }
    }

    Stream<UUID> pods(UUID allocation) {
        return pods.getOrDefault(allocation, Set.of()).stream();
    }

    Stream<UUID> allocations(UUID pod) {
        return allocations.getOrDefault(pod, Set.of()).stream();
    }

    void clear() {
        pods.clear();
        allocations.clear();
    }

    void remove(UUID allocation) {
        Set<UUID> held = pods.remove(allocation);
        if (held == null) {
            return;
        }
        for (UUID pod : held) {
            allocations.computeIfPresent(
                    pod,
                    (uid, others) -> {
                        others.remove(allocation);
                        return others.isEmpty() ? null : others;
                    });
        }
    }
}
