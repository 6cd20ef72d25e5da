package io.gpusharing.kubernetes;

import io.gpusharing.request.BoundShare;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * What a pod holds by resource claims.
 *
 * @param own what no other pod can hold
 * @param shared what others may hold at the same time
 * @param complete false while a claim may yet become the pod's: until then nothing of it can run
 */
public record Claimed(BoundShare own, List<ClaimAllocation> shared, boolean complete) {

    /** Nothing. */
    public static final Claimed NONE = new Claimed(BoundShare.NONE, List.of(), true);

    /**
     * Devices that were handed out to a claim that pods name. All of these are of its namespace.
     *
     * @param id of the allocation: the claim may be allocated again, and its name given to another
     * @param claim its name
     */
    public record ClaimAllocation(UUID id, String claim, BoundShare share) {}

    public Claimed {
        shared = List.copyOf(shared);
    }

    /** Whether it is no GPU, or a part of one that is not known yet. */
    public boolean isNone() {
        return own.equals(BoundShare.NONE) && shared.isEmpty();
    }

    /** Both. */
    public Claimed plus(Claimed other) {
        return new Claimed(
                own.plus(other.own),
                Stream.concat(shared.stream(), other.shared.stream()).toList(),
                complete && other.complete);
    }
}
