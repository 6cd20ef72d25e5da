package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Unwatched;
import java.time.Instant;
import java.util.List;
import org.springframework.stereotype.Repository;

/** Spans in which pods may have come and gone that the ledger does not know. */
@Repository
public class UnwatchedSpans {

    private static final int MOST = 1_000;

    private final ClusterDatabase database;

    UnwatchedSpans(ClusterDatabase database) {
        this.database = database;
    }

    /** Those that have a second in common with [from, to), latest first, a thousand at most. */
    public List<Unwatched> within(Instant from, Instant to) {
        return database.sql(
                        """
                        select since, until from unwatched
                        where cluster = :cluster and since < :to::timestamptz and until >= :from::timestamptz
                        order by since desc limit :most
                        """)
                .param("from", from)
                .param("to", to)
                .param("most", MOST)
                .query((row, number) ->
                        new Unwatched(
                                Timestamps.instant(row, "since"), Timestamps.instant(row, "until")))
                .list();
    }
}
