package io.gpusharing.scheduler.picture;

import static java.util.stream.Collectors.toSet;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What reclaim has done and was refused for as long as that has a bearing on what it does next.
 *
 * @param evictions of victims that went, or may have
 * @param refusals of victims that the API server did not let go
 * @param going UIDs of victims that may not show yet that they go, each with the instant from which
 *     on that is not believed any more
 */
public record Past(
        List<PastEviction> evictions, List<Refusal> refusals, Map<String, Instant> going) {

    public Past {
        evictions = List.copyOf(evictions);
        refusals = List.copyOf(refusals);
        going = Map.copyOf(going);
    }

    /**
     * UIDs of the victims that will have gone soon, though they may not show it at this instant.
     */
    public Set<String> goingAt(Instant now) {
        return going.entrySet().stream()
                .filter(it -> now.isBefore(it.getValue()))
                .map(Map.Entry::getKey)
                .collect(toSet());
    }

    /**
     * An earlier eviction, as its receipt has it.
     *
     * @param plan evictions with the same one made room for one waiter together
     * @param settlesAt by when the waiter should be bound: the victims' grace and a minute
     * @param helped whether it was
     * @param node where room was made
     * @param went whether the victim went, or may have; else the plan counts for the waiter alone,
     *     for whom the same would be planned again
     */
    public record PastEviction(
            String plan,
            Instant at,
            Instant settlesAt,
            PodRef waiter,
            String workload,
            String waiterBudget,
            String victimBudget,
            String node,
            boolean went,
            boolean helped) {}

    /**
     * An eviction that the API server refused, mostly because of a PodDisruptionBudget, as its
     * receipt has it.
     *
     * @param waiter UID of the pod for which it was asked
     * @param workload what the waiter belongs to
     * @param victim UID of the pod that was not let go
     */
    public record Refusal(Instant at, String waiter, String workload, String victim) {}
}
