package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.ledger.PodEvent.Listed;
import java.time.Duration;
import java.time.Instant;

/**
 * The API server is telling what happened while nobody watched. Until it is done, pods that ended
 * long ago look as if they still ran, and nobody may draw conclusions.
 *
 * @param position of the list that was made at the beginning; the past lies before it
 * @param quietAt when it is over if nothing more is told; before it is told for the first time that
 *     the past begins, silence means nothing
 * @param endsAt when it is over whatever is told
 */
record CatchUp(String position, Instant quietAt, Instant endsAt) {

    private static final Duration QUIET = Duration.ofSeconds(2);

    static CatchUp of(Listed listed, Duration grace) {
        Instant end = listed.at().plus(grace);
        return new CatchUp(listed.position(), end, end);
    }

    /** Positions of one resource grow and can be compared as numbers; others end by time. */
    boolean reached(String told) {
        return told.length() > position.length()
                || (told.length() == position.length() && told.compareTo(position) >= 0);
    }

    CatchUp heard(Instant at) {
        return new CatchUp(position, at.plus(QUIET), endsAt);
    }

    Instant over() {
        return quietAt.isBefore(endsAt) ? quietAt : endsAt;
    }
}
