package io.gpusharing.timekeeper.reclaim;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What became of a waiter for whom room was made.
 *
 * @param helped whether it was bound in time, and to the node where room was made
 * @param detail the same in words
 */
record Outcome(boolean helped, String detail) {

    /**
     * The outcome as it is known at an instant; empty while it is open.
     *
     * @param node where room was made
     * @param settlesAt by when the waiter should be bound
     * @param present whether the waiter is still there
     * @param boundTo its node; null while it is not bound
     */
    static Optional<Outcome> of(
            String node,
            Instant settlesAt,
            boolean present,
            @Nullable String boundTo,
            Instant now) {
        if (boundTo != null) {
            return Optional.of(
                    boundTo.equals(node)
                            ? new Outcome(true, "the waiter was bound to " + node)
                            : new Outcome(
                                    false,
                                    "the waiter was bound to %s, room was made on %s"
                                            .formatted(boundTo, node)));
        }
        if (!present) {
            return Optional.of(new Outcome(false, "the waiter went before it was bound"));
        }
        return now.isBefore(settlesAt)
                ? Optional.empty()
                : Optional.of(new Outcome(false, "the waiter still waited at " + settlesAt));
    }
}
