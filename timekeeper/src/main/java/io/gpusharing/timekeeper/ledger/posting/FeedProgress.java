package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.PodChange;
import io.gpusharing.timekeeper.cluster.PodEvent.Resync;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.Unwatched;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How far the API server's reports of pods come, event by event. */
final class FeedProgress {

    private @Nullable String position;
    private @Nullable Instant at;
    private @Nullable Instant swept;
    private @Nullable Instant reported;
    private @Nullable String past;
    private final List<Unwatched> unwatched = new ArrayList<>();

    /**
     * @param reported up to when everything that happened has been reported; null if nothing was
     * @param past position of the list before which the past is still being reported; null if none
     *     is
     */
    FeedProgress(@Nullable Instant reported, @Nullable String past) {
        this.reported = reported;
        this.past = past;
    }

    /** Whether one position is not before another: those of one resource grow, as numbers do. */
    static boolean reaches(String position, String other) {
        return position.length() > other.length()
                || (position.length() == other.length() && position.compareTo(other) >= 0);
    }

    void report(PodEvent event) {
        switch (event) {
            case Listed listed -> list(listed);
            case Resync resync -> swept = seconds(resync.at());
            case PodChange change -> move(change.position(), change.at());
            case Bookmark bookmark -> move(bookmark.position(), bookmark.at());
        }
    }

    private void list(Listed listed) {
        at = listed.at();
        if (listed.resuming()) {
            // The events up to here are still to come, unless the API server turns out to have
            // forgotten them: so far no later instant is known up to which all was reported.
            past = listed.position();
            return;
        }
        Instant until = seconds(listed.at());
        if (reported != null) {
            unwatched.add(new Unwatched(reported, until));
        }
        position = listed.position();
        reported = until;
        past = null;
    }

    private void move(String to, Instant when) {
        position = to;
        at = when;
        if (past == null || reaches(to, past)) {
            past = null;
            reported = seconds(when);
        }
    }

    /** The last position; null if it has not moved. */
    @Nullable String position() {
        return position;
    }

    /** When the last event of the watch was received; null if there was none. */
    @Nullable Instant at() {
        return at;
    }

    /** When the last sweep listed all pods; null if there was none. */
    @Nullable Instant swept() {
        return swept;
    }

    /** Before which position the past is still being reported; null if it is not. */
    @Nullable String past() {
        return past;
    }

    /** Spans of which nothing will be reported. */
    List<Unwatched> unwatched() {
        return unwatched;
    }

    /**
     * What is written with the postings of these events.
     *
     * @param awaited whether the end of a pod is awaited: it was last seen before that, whatever is
     *     reported of others, and a kill must not hide it
     */
    FeedPosition written(boolean awaited) {
        Instant seen = at == null || awaited ? null : seconds(at);
        return new FeedPosition(position, seen, swept, reported, List.copyOf(unwatched));
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }
}
