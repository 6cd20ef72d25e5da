package io.gpusharing.timekeeper.budget;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The grants that the ledger has taken in, for readers. */
@Repository
public class GrantBook {

    private final JdbcClient jdbc;
    private final String cluster;

    GrantBook(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /**
     * A grant as it was written down.
     *
     * @param amount micro-GPU-seconds
     * @param author absent if its object did not say
     * @param expires absent for the end of the period
     * @param ended when its object was deleted; absent while it stands
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Written(
            String uid,
            String name,
            String budget,
            long amount,
            String amountMinutes,
            String reason,
            @Nullable String author,
            Instant from,
            @Nullable Instant expires,
            @Nullable Instant ended) {}

    /** A budget's grants by uid, those that have ended included. */
    public List<Written> of(String budget, @Nullable String after, int size) {
        return jdbc.sql(
                        """
                        select * from budget_grant
                        where cluster = :cluster and budget = :budget and uid > coalesce(:after::text, '')
                        order by uid limit :size
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("after", after)
                .param("size", size)
                .query((row, number) -> written(row))
                .list();
    }

    /** The last grant of that name. */
    public Optional<Written> named(String name) {
        return jdbc.sql(
                        """
                        select * from budget_grant where cluster = :cluster and name = :name
                        order by valid_from desc limit 1
                        """)
                .param("cluster", cluster)
                .param("name", name)
                .query((row, number) -> written(row))
                .optional();
    }

    private static Written written(ResultSet row) throws SQLException {
        GpuTime amount = new GpuTime(row.getLong("amount"));
        return new Written(
                row.getString("uid"),
                row.getString("name"),
                row.getString("budget"),
                amount.microGpuSeconds(),
                amount.minutes(),
                row.getString("reason"),
                row.getString("author"),
                row.getObject("valid_from", OffsetDateTime.class).toInstant(),
                instant(row, "expires"),
                instant(row, "ended"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
