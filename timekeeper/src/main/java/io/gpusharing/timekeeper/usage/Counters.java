package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;

/**
 * How far the counters of one run have come, for one pod on one GPU. Merging takes the larger of
 * each counter, so reports can come in any order and more than once.
 *
 * @param atMostMicroseconds the most that {@code gpuMicroseconds} can have been
 * @param sequence the latest report that had it
 * @param lastAt when any report had it last, by our clock
 */
public record Counters(
        Key key,
        Basis basis,
        String basisReason,
        long gpuMicroseconds,
        long atMostMicroseconds,
        long memoryByteSeconds,
        long coveredMicroseconds,
        long uncoveredMicroseconds,
        long sequence,
        Instant lastAt) {

    /** Whose counters these are. */
    public record Key(UUID pod, UUID run, Meter meter, String device) implements Comparable<Key> {

        private static final Comparator<Key> ORDER =
                Comparator.comparing(Key::pod)
                        .thenComparing(Key::run)
                        .thenComparing(Key::meter)
                        .thenComparing(Key::device);

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    /**
     * Whether a counter is lower in the later of two reports than in the earlier, whichever came
     * first.
     */
    public boolean contradicts(Counters other) {
        return sequence < other.sequence
                ? other.fellFrom(this)
                : sequence > other.sequence && fellFrom(other);
    }

    private boolean fellFrom(Counters before) {
        return gpuMicroseconds < before.gpuMicroseconds
                || memoryByteSeconds < before.memoryByteSeconds
                || coveredMicroseconds < before.coveredMicroseconds
                || uncoveredMicroseconds < before.uncoveredMicroseconds;
    }

    public Counters merge(Counters other) {
        Counters latest = other.sequence > sequence ? other : this;
        return new Counters(
                key,
                latest.basis,
                latest.basisReason,
                Math.max(gpuMicroseconds, other.gpuMicroseconds),
                Math.max(atMostMicroseconds, other.atMostMicroseconds),
                Math.max(memoryByteSeconds, other.memoryByteSeconds),
                Math.max(coveredMicroseconds, other.coveredMicroseconds),
                Math.max(uncoveredMicroseconds, other.uncoveredMicroseconds),
                latest.sequence,
                lastAt.isAfter(other.lastAt) ? lastAt : other.lastAt);
    }
}
