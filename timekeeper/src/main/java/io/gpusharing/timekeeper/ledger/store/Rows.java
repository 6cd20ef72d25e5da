package io.gpusharing.timekeeper.ledger.store;

import io.gpusharing.kubernetes.PodFacts.Owner;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.Part;
import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Entry;
import io.gpusharing.timekeeper.ledger.Holders.Holder;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.PodAllocation.ByUse;
import io.gpusharing.timekeeper.ledger.PodAllocation.Metering;
import io.gpusharing.timekeeper.ledger.PodAllocation.Price;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads rows of the ledger's tables. */
public final class Rows {

    private Rows() {}

    public static PodAllocation allocation(ResultSet row, int number) throws SQLException {
        String owner = row.getString("owner_kind");
        return new PodAllocation(
                uuid(row, "pod_uid"),
                row.getString("namespace"),
                row.getString("name"),
                owner == null ? null : new Owner(owner, row.getString("owner_name"), ""),
                row.getString("node"),
                row.getString("budget"),
                new Price(
                        row.getLong("share_rate"),
                        new Weight(
                                row.getString("model"),
                                row.getLong("weight"),
                                row.getBoolean("weight_known"),
                                row.getLong("gpu_mib")),
                        row.getLong("rate")),
                held(row),
                Timestamps.instant(row, "held_from"),
                row.getBoolean("begin_estimated"),
                Timestamps.instant(row, "posted_until"),
                Timestamps.instant(row, "charged_until"),
                Timestamps.instantOrNull(row, "held_until"),
                row.getBoolean("estimated"),
                Timestamps.instantOrNull(row, "end_bound"),
                new Metering(row.getBoolean("watched"), row.getBoolean("allocation"), use(row)));
    }

    private static BoundShare held(ResultSet row) throws SQLException {
        return new BoundShare(
                new GpuShare(part(row, "compute"), part(row, "memory")),
                row.getBoolean("share_known"));
    }

    private static Part part(ResultSet row, String name) throws SQLException {
        return new Part(row.getLong(name + "_numerator"), row.getLong(name + "_denominator"));
    }

    private static @Nullable ByUse use(ResultSet row) throws SQLException {
        Instant since = Timestamps.instantOrNull(row, "use_since");
        return since == null
                ? null
                : new ByUse(
                        since,
                        row.getLong("use_before"),
                        row.getLong("covered_before"),
                        Timestamps.instantOrNull(row, "use_settled"));
    }

    public static Entry entry(ResultSet row, int number) throws SQLException {
        return new Entry(
                uuid(row, "pod_uid"),
                row.getString("namespace"),
                row.getString("budget"),
                Timestamps.instant(row, "charged_from"),
                Timestamps.instant(row, "charged_to"),
                row.getLong("rate"));
    }

    static Holder holder(ResultSet row, int number) throws SQLException {
        return new Holder(uuid(row, "allocation"), uuid(row, "pod_uid"));
    }

    private static UUID uuid(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }
}
