package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.timekeeper.cluster.ClusterProperties;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The periods that were opened, and the grants that count in them. */
@Repository
class Periods {

    private final JdbcClient jdbc;
    private final String cluster;

    Periods(JdbcClient jdbc, ClusterProperties properties) {
        this.jdbc = jdbc;
        this.cluster = properties.id();
    }

    /** The last period that was opened for a budget; its first one is opened now. */
    Opening latest(Budget budget) {
        return find(budget.name())
                .orElseGet(() -> {
                    insert(
                            budget.name(),
                            budget.periods().at(budget.created()),
                            budget.countedFrom(),
                            GpuTime.ZERO,
                            GpuTime.ZERO,
                            GpuTime.ZERO);
                    return find(budget.name()).orElseThrow();
                });
    }

    /** Opens the next period; a second time changes nothing. */
    void open(String budget, Opening opening) {
        insert(
                budget,
                opening.period(),
                opening.countedFrom(),
                opening.rolledOver(),
                opening.debt(),
                opening.writtenOff());
        opening.carried()
                .forEach((uid, remaining) ->
                        jdbc.sql(
                                        """
                                        insert into grant_carried
                                            (cluster, budget, period_start, grant_uid, remaining)
                                        values (:cluster, :budget, :start::timestamptz, :uid, :remaining)
                                        on conflict do nothing
                                        """)
                                .param("cluster", cluster)
                                .param("budget", budget)
                                .param("start", opening.period().start().toString())
                                .param("uid", uid)
                                .param("remaining", remaining.microGpuSeconds())
                                .update());
    }

    private void insert(
            String budget,
            Period period,
            Instant countedFrom,
            GpuTime rolledOver,
            GpuTime debt,
            GpuTime writtenOff) {
        jdbc.sql(
                        """
                        insert into budget_period (cluster, budget, period_start, period_end, counted_from,
                            rolled_over, debt, written_off)
                        values (:cluster, :budget, :start::timestamptz, :end::timestamptz, :from::timestamptz,
                            :rolled, :debt, :written)
                        on conflict do nothing
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("start", period.start().toString())
                .param("end", text(period.end()))
                .param("from", countedFrom.toString())
                .param("rolled", rolledOver.microGpuSeconds())
                .param("debt", debt.microGpuSeconds())
                .param("written", writtenOff.microGpuSeconds())
                .update();
    }

    private Optional<Opening> find(String budget) {
        return jdbc.sql(
                        """
                        select * from budget_period where cluster = :cluster and budget = :budget
                        order by period_start desc limit 1
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .query((row, number) -> opening(budget, row))
                .optional();
    }

    /**
     * The periods that were opened up to an instant, from the one on that holds another; oldest
     * first. If the first of all began later than {@code from}, it is that one.
     */
    List<Opening> openings(String budget, Instant from, Instant to) {
        return jdbc.sql(
                        """
                        select * from budget_period where cluster = :cluster and budget = :budget
                          and counted_from <= :to::timestamptz
                          and counted_from >= coalesce((
                              select max(counted_from) from budget_period
                              where cluster = :cluster and budget = :budget
                                and counted_from <= :from::timestamptz), '-infinity')
                        order by period_start
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("from", from.toString())
                .param("to", to.toString())
                .query((row, number) -> opening(budget, row))
                .list();
    }

    private Opening opening(String budget, ResultSet row) throws SQLException {
        Instant start = instant(row, "period_start");
        return new Opening(
                new Period(start, instantOrNull(row, "period_end")),
                instant(row, "counted_from"),
                new GpuTime(row.getLong("rolled_over")),
                new GpuTime(row.getLong("debt")),
                new GpuTime(row.getLong("written_off")),
                carried(budget, start),
                instant(row, "opened_at"));
    }

    private Map<String, GpuTime> carried(String budget, Instant start) {
        var carried = new HashMap<String, GpuTime>();
        jdbc.sql(
                        """
                        select grant_uid, remaining from grant_carried
                        where cluster = :cluster and budget = :budget and period_start = :start::timestamptz
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("start", start.toString())
                .query(row -> {
                    carried.put(row.getString(1), new GpuTime(row.getLong(2)));
                });
        return carried;
    }

    /** Writes a grant down; one that is there stays as it is. */
    void grant(Grant grant) {
        jdbc.sql(
                        """
                        insert into budget_grant (cluster, uid, name, budget, amount, reason, author,
                            valid_from, expires)
                        values (:cluster, :uid, :name, :budget, :amount, :reason, :author,
                            :from::timestamptz, :expires::timestamptz)
                        on conflict do nothing
                        """)
                .param("cluster", cluster)
                .param("uid", grant.uid())
                .param("name", grant.name())
                .param("budget", grant.budget())
                .param("amount", grant.amount().microGpuSeconds())
                .param("reason", grant.reason())
                .param("author", grant.author())
                .param("from", grant.from().toString())
                .param("expires", text(grant.expires()))
                .update();
    }

    /** Grants whose objects are not there any more end now. */
    void endAllBut(List<String> present, Instant now) {
        jdbc.sql(
                        """
                        update budget_grant set ended = :now::timestamptz
                        where cluster = :cluster and ended is null and not (uid = any(:present))
                        """)
                .param("cluster", cluster)
                .param("now", now.toString())
                .param("present", present.toArray(String[]::new))
                .update();
    }

    /** All grants of a budget that count at or after an instant. */
    List<Grant> grants(String budget, Instant from) {
        return jdbc.sql(
                        """
                        select * from budget_grant where cluster = :cluster and budget = :budget
                          and (expires is null or expires > :from::timestamptz)
                          and (ended is null or ended > :from::timestamptz)
                        order by valid_from, name
                        """)
                .param("cluster", cluster)
                .param("budget", budget)
                .param("from", from.toString())
                .query((row, number) ->
                        new Grant(
                                row.getString("uid"),
                                row.getString("name"),
                                row.getString("budget"),
                                new GpuTime(row.getLong("amount")),
                                row.getString("reason"),
                                row.getString("author"),
                                instant(row, "valid_from"),
                                instantOrNull(row, "expires"),
                                instantOrNull(row, "ended")))
                .list();
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }

    private static Instant instant(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    private static @Nullable Instant instantOrNull(ResultSet row, String column)
            throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
