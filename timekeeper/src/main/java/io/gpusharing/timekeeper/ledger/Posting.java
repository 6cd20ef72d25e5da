package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.ledger.Holders.Holder;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one transaction writes.
 *
 * @param holders pods that begin to hold an allocation
 * @param read what the corrections were drawn up from
 * @param position how far what the API server reported has come with it
 */
public record Posting(
        List<AllocationChange> changes,
        List<Holder> holders,
        List<Entry> charges,
        List<Correction> corrections,
        List<Read> read,
        FeedPosition position) {

    /** An allocation that begins or changes; {@code before} is null if it begins. */
    public record AllocationChange(@Nullable PodAllocation before, PodAllocation after) {

        /** Since when it costs otherwise than was known; null if it was only posted. */
        public @Nullable Instant since() {
            if (before == null) {
                return after.from();
            }
            if (before.open() != after.open()) {
                return after.until() != null ? after.until() : before.until();
            }
            boolean same = before.rate() == after.rate() && before.budget().equals(after.budget());
            return same ? null : after.postedUntil();
        }
    }

    /**
     * How far what the API server reported has come. What is null has not moved.
     *
     * @param position of the pods' feed
     * @param seen up to when a pod that is not reported was there for certain
     * @param swept the same for pods that only the sweep finds
     * @param reported up to when everything that happened to watched pods has been reported
     * @param unwatched spans of which it will never be reported
     */
    public record FeedPosition(
            @Nullable String position,
            @Nullable Instant seen,
            @Nullable Instant swept,
            @Nullable Instant reported,
            List<Unwatched> unwatched) {

        /** Nothing has moved. */
        public static final FeedPosition NOTHING =
                new FeedPosition(null, null, null, null, List.of());
    }

    /**
     * An entry that corrects others.
     *
     * @param byHand whether it was ordered, by a person as a rule: it stands whatever begin, end
     *     and measured use of the pod turn out to be
     * @param object UID of the {@code GpuCorrection} by which a person ordered it; null if none did
     */
    public record Correction(
            UUID id,
            Entry entry,
            String reason,
            String author,
            boolean byHand,
            @Nullable UUID object) {

        /** One of our own. */
        public Correction(Entry entry, String reason) {
            this(UUID.randomUUID(), entry, reason, "timekeeper", false, null);
        }
    }

    /**
     * All entries of a pod beyond an instant, of which there were so many when they were read.
     *
     * @param pod whose allocation this posting changes
     */
    public record Read(UUID pod, Instant beyond, int entries) {}

    /** Corrections alone. */
    public Posting(List<Correction> corrections) {
        this(List.of(), List.of(), List.of(), corrections, List.of(), FeedPosition.NOTHING);
    }

    public Posting {
        changes = List.copyOf(changes);
        holders = List.copyOf(holders);
        charges = List.copyOf(charges);
        corrections = List.copyOf(corrections);
        read = List.copyOf(read);
    }

    /** All entries, corrections included. */
    public Stream<Entry> entries() {
        return Stream.concat(charges.stream(), corrections.stream().map(Correction::entry));
    }

    public boolean isEmpty() {
        return changes.isEmpty()
                && charges.isEmpty()
                && corrections.isEmpty()
                && position.equals(FeedPosition.NOTHING);
    }
}
