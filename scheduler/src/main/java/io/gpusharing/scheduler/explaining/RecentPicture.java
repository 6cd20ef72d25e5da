package io.gpusharing.scheduler.explaining;

import io.gpusharing.scheduler.picture.ClusterSnapshot.Holder;
import io.gpusharing.scheduler.picture.reading.GroupGpus;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The cluster as it was summed up last. Of thousands of nodes that takes a while and memory, so it
 * is done for one question at a time, and whoever asks soon after is answered from the same.
 */
final class RecentPicture {

    private static final Duration FRESH = Duration.ofSeconds(10);

    private final Reader reader;
    private final Duration patience;
    private final Clock clock;
    private final ReentrantLock reading = new ReentrantLock();
    private volatile @Nullable Seen last;

    /**
     * What was seen.
     *
     * @param nodePods reads all pods of a node now
     * @param paused whether reclaim is paused
     */
    record Seen(
            Picture picture,
            GroupGpus groups,
            Function<String, List<Holder>> nodePods,
            boolean paused) {}

    /** Reads the cluster. */
    interface Reader {
        Seen read();
    }

    /**
     * @param patience how long a question waits for another that has it read
     */
    RecentPicture(Reader reader, Duration patience, Clock clock) {
        this.reader = reader;
        this.patience = patience;
        this.clock = clock;
    }

    /**
     * What was seen less than ten seconds before.
     *
     * @throws NotSeenException if it takes too long to read it
     */
    Seen seen() {
        Seen known = last;
        if (known != null && isFresh(known)) {
            return known;
        }
        try {
            if (!reading.tryLock(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw NotSeenException.busy();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw NotSeenException.busy();
        }
        try {
            known = last;
            if (known == null || !isFresh(known)) {
                known = reader.read();
                last = known;
            }
            return known;
        } finally {
            reading.unlock();
        }
    }

    private boolean isFresh(Seen seen) {
        Instant now = clock.instant();
        Instant at = seen.picture().at();
        // A clock may be set back.
        return !now.isBefore(at) && now.isBefore(at.plus(FRESH));
    }
}
