package io.gpusharing.timekeeper.ledger;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;

/**
 * A span of which the API server did not report what happened to pods, since it had forgotten. Pods
 * that were there afterwards are charged exactly, and those that were known before and had gone
 * have an estimated end; of those that came and went within it nothing is known.
 *
 * @param since up to when everything had been reported
 * @param until when all pods were listed again
 */
public record Unwatched(Instant since, Instant until) {

    public Unwatched {
        // Our clock may have been ahead when it began.
        since = until.isBefore(since) ? until : since;
    }

    /** What it means, in a sentence. */
    @JsonProperty
    public String note() {
        return ("If pods were bound and removed between %s and %s, they are not charged: the API server"
                        + " had forgotten them when it was asked")
                .formatted(since, until);
    }
}
