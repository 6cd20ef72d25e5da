package io.gpusharing.timekeeper.database;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code timestamptz}, whatever the zone of the JVM. */
public final class Timestamps {

    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

    private Timestamps() {}

    /** A column that is never null. */
    public static Instant instant(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instantOrNull(row, column), column);
    }

    /** A column that may be null. */
    public static @Nullable Instant instantOrNull(ResultSet row, String column)
            throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    /**
     * A parameter that PostgreSQL takes for a point in time at once: months that it rules out are
     * then left out when a question is planned, where text would have to be read first. {@link
     * Instant#MAX} is later than all others there, too.
     */
    public static OffsetDateTime parameter(Instant instant) {
        return instant.equals(Instant.MAX) ? OffsetDateTime.MAX : instant.atOffset(ZoneOffset.UTC);
    }

    /**
     * In an array of texts, for {@code :name::timestamptz[]}. Who writes an object may date it in
     * the year 10000, which PostgreSQL reads without a sign, or before the first.
     */
    static @Nullable String text(@Nullable Instant instant) {
        return instant == null
                ? null
                : (instant.isBefore(FIRST) ? FIRST : instant).toString().replace("+", "");
    }
}
