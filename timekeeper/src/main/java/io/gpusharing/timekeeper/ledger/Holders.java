package io.gpusharing.timekeeper.ledger;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/** Which pods hold, or held, the devices of claims that pods name. */
public final class Holders {

    /**
     * A pod that holds an allocation, or did.
     *
     * @param claim whose allocation it is charged by
     */
    public record Holder(UUID claim, UUID pod) {}

    private final Map<UUID, Set<UUID>> pods = new HashMap<>();
    private final Map<UUID, Set<UUID>> claims = new HashMap<>();

    public void add(Collection<Holder> holders) {
        for (Holder holder : holders) {
            pods.computeIfAbsent(holder.claim(), it -> new HashSet<>()).add(holder.pod());
            claims.computeIfAbsent(holder.pod(), it -> new HashSet<>()).add(holder.claim());
        }
    }

    public Stream<UUID> pods(UUID claim) {
        return pods.getOrDefault(claim, Set.of()).stream();
    }

    public Stream<UUID> claims(UUID pod) {
        return claims.getOrDefault(pod, Set.of()).stream();
    }

    public void clear() {
        pods.clear();
        claims.clear();
    }

    public void remove(UUID claim) {
        Set<UUID> held = pods.remove(claim);
        if (held == null) {
            return;
        }
        for (UUID pod : held) {
            claims.computeIfPresent(
                    pod,
                    (uid, others) -> {
                        others.remove(claim);
                        return others.isEmpty() ? null : others;
                    });
        }
    }
}
