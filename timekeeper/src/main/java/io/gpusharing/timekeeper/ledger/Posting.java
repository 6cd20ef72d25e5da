package io.gpusharing.timekeeper.ledger;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one transaction writes.
 *
 * @param position how far the pods' feed has come with it; null if not at all
 * @param seen when the API server told it; null if it did not
 */
public record Posting(
        List<Move> moves,
        List<Entry> charges,
        List<Correction> corrections,
        @Nullable String position,
        @Nullable Instant seen) {

    /** A stay that begins or changes; {@code before} is null if it begins. */
    public record Move(@Nullable PodStay before, PodStay after) {}

    /** An entry that corrects others, and why. */
    public record Correction(Entry entry, String reason) {}

    public Posting {
        moves = List.copyOf(moves);
        charges = List.copyOf(charges);
        corrections = List.copyOf(corrections);
    }

    /** All entries, corrections included. */
    public Stream<Entry> entries() {
        return Stream.concat(charges.stream(), corrections.stream().map(Correction::entry));
    }

    boolean isEmpty() {
        return moves.isEmpty()
                && charges.isEmpty()
                && corrections.isEmpty()
                && position == null
                && seen == null;
    }
}
