package io.gpusharing.kubernetes;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Judges whether the lease may be taken. As in Kubernetes' own components (client-go's
 * leaderelection) another one's lease has run out once it has stood unchanged for its duration as
 * <em>we</em> saw it: what its clock wrote is never compared with ours.
 */
final class Election {

    private final String identity;
    private @Nullable Claim last;
    private Instant changed = Instant.MIN;

    Election(String identity) {
        this.identity = identity;
    }

    /**
     * What stands in the lease.
     *
     * @param holder empty if it was released
     * @param version differs whenever it was renewed
     */
    record Claim(String holder, String version, Duration lasts) {}

    /**
     * Whether we may write ourselves into it.
     *
     * @param now by a clock that nobody sets
     */
    boolean isOpen(Claim claim, Instant now) {
        if (!claim.equals(last)) {
            last = claim;
            changed = now;
        }
        return claim.holder().isEmpty()
                || claim.holder().equals(identity)
                || !now.isBefore(changed.plus(claim.lasts()));
    }
}
