package io.gpusharing.timekeeper.ledger;

import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.metering.PodFacts.Owner;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads rows of the ledger's tables. */
final class Rows {

    private Rows() {}

    static PodStay stay(ResultSet row, int number) throws SQLException {
        String owner = row.getString("owner_kind");
        return new PodStay(
                uuid(row, "pod_uid"),
                row.getString("namespace"),
                row.getString("name"),
                owner == null ? null : new Owner(owner, row.getString("owner_name"), ""),
                row.getString("node"),
                row.getString("budget"),
                row.getLong("rate"),
                new GpuShare(row.getLong("compute_part"), row.getLong("memory_part")),
                row.getBoolean("share_known"),
                instant(row, "held_from"),
                instant(row, "posted_until"),
                instant(row, "charged_until"),
                instantOrNull(row, "held_until"),
                row.getBoolean("estimated"),
                instantOrNull(row, "end_bound"));
    }

    static Entry entry(ResultSet row, int number) throws SQLException {
        return new Entry(
                uuid(row, "pod_uid"),
                row.getString("namespace"),
                row.getString("budget"),
                instant(row, "charged_from"),
                instant(row, "charged_to"),
                row.getLong("rate"));
    }

    static Instant instant(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instantOrNull(row, column), column);
    }

    static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private static UUID uuid(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }
}
